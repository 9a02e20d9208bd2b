# tandem_embed(TARGET FUNCTION TYPE HEADER FOLDER FILE...): compiles the files in, as rows {name, text} of the span of TYPE
# that FUNCTION gives, so that the program needs no file beside it. HEADER declares both. The name of a file below FOLDER
# is its path there, of another its own, .csv left out. A changed file is compiled again.
function(tandem_embed target function type header folder)
  set(output "${CMAKE_BINARY_DIR}/generated/${function}.cpp")
  list(JOIN ARGN "|" files)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFUNCTION=${function} -DTYPE=${type} -DHEADER=${header} -DFOLDER=${folder}
            -DFILES=${files} -DOUTPUT=${output} -P ${CMAKE_SOURCE_DIR}/cmake/WriteFiles.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/WriteFiles.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
