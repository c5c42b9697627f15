#include <calibrant/runtime/version.hpp>
#include <iostream>

int main() { std::cout << "calibrant " << calibrant::version() << '\n'; }
