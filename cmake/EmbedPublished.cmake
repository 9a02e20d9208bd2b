# tandem_embed_published(TARGET): the CSV files of data/ as src/report/published.h gives them, compiled in, so
# that the program needs no file beside it. A changed file is compiled again.
function(tandem_embed_published target)
  set(folder "${CMAKE_SOURCE_DIR}/data")
  set(output "${CMAKE_BINARY_DIR}/generated/published_files.cpp")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${folder}/*.csv")
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -P ${CMAKE_SOURCE_DIR}/cmake/WritePublished.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/WritePublished.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
