# add_headers_alone(<name> <library> <folder>): a target that compiles each public header by itself,
# as a program does that includes no other. There are at most 45 of them.
function(add_headers_alone name library folder)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/calibrant/*.hpp)
  list(LENGTH headers count)
  if(count EQUAL 0 OR count GREATER 45)
    message(FATAL_ERROR "${count} public headers in ${folder}, expected 1 to 45")
  endif()
  set(sources)
  foreach(header ${headers})
    string(REPLACE ".hpp" ".cpp" source ${CMAKE_CURRENT_BINARY_DIR}/${name}/${header})
    # Twice: a header may be included again.
    file(GENERATE OUTPUT ${source} CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${name} OBJECT ${sources})
  target_link_libraries(${name} PRIVATE ${library})
endfunction()
