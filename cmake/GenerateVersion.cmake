# tandem_version: version, commit and cleanliness of the tree, written anew at each build only when they change.
set(version_source "${CMAKE_BINARY_DIR}/generated/version.cpp")
add_custom_target(tandem_version_file
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${version_source} -DVERSION=${PROJECT_VERSION}
          -P ${CMAKE_CURRENT_LIST_DIR}/WriteVersion.cmake
  BYPRODUCTS ${version_source} VERBATIM)
add_library(tandem_version STATIC ${version_source})
target_include_directories(tandem_version PUBLIC "${CMAKE_SOURCE_DIR}/src")
add_dependencies(tandem_version tandem_version_file)
