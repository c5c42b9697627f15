namespace calibrant {}
