# cmake -P RemoveRpath.cmake FILE: the program no longer names folders of the machine that built it.
file(RPATH_REMOVE FILE "${CMAKE_ARGV3}")
