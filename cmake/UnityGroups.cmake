# Sources that are compiled together, as one source that includes them: most of the time to compile a source goes to the
# headers and templates that it shares with its neighbours.
#
# A name that two sources keep for themselves, in namespaces without a name, puts them into different groups. Names are
# found by the form of their line, which begins at the margin. A new one that clashes is an error of the compiler until
# the next `cmake build/PRESET`, which makes the groups anew.

# tandem_local_names(OUT SOURCE): what a source declares at the margin: types, functions, constants.
function(tandem_local_names out source)
  file(READ "${source}" text)
  string(REPLACE "[[noreturn]] " "" text "${text}")   # in front of the name of a function
  string(REGEX REPLACE "[][;]" "=" text "${text}")   # they have a meaning in lists of CMake
  # A second constant on a line becomes a line of its own.
  string(REGEX REPLACE "(\n(const|constexpr) [^\n(){}=]+ = [^\n(){}=]+), ([A-Za-z0-9_]+ =)" "\\1\nand \\3" text "${text}")
  string(REGEX MATCHALL "\n[A-Za-z][^\n=({]*[=({]" declarations "${text}")
  set(names "")
  foreach(declaration IN LISTS declarations)
    string(REGEX REPLACE "( final)? : .*" " {" declaration "${declaration}")   # bases
    string(REGEX REPLACE ".*[ *&\n]([A-Za-z0-9_:]+) ?[=({]$" "\\1" name "${declaration}")
    if(name MATCHES "^[A-Za-z0-9_]+$" AND NOT declaration MATCHES "^\n(namespace|TEST|INSTANTIATE)")
      list(APPEND names ${name})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# tandem_compile_together(TARGET SOURCES...): each source into the first group that has room and none of its names.
function(tandem_compile_together target)
  if(NOT TANDEM_UNITY MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "TANDEM_UNITY=${TANDEM_UNITY}: a number of sources is needed; 1 compiles each alone")
  endif()
  if(TANDEM_UNITY EQUAL 1)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    tandem_local_names(names "${source}")
    set(clashing "")
    foreach(name IN LISTS names)
      list(APPEND clashing ${groups_with_${name}})
    endforeach()
    set(group 0)
    while(group IN_LIST clashing OR size_of_${group} EQUAL TANDEM_UNITY)
      math(EXPR group "${group} + 1")
    endwhile()
    foreach(name IN LISTS names)
      list(APPEND groups_with_${name} ${group})
    endforeach()
    if(NOT DEFINED size_of_${group})
      set(size_of_${group} 0)
    endif()
    math(EXPR size_of_${group} "${size_of_${group}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A type of a namespace without a name is seen in one source here too.
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
endfunction()
