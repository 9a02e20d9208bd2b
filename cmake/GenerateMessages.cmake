# tandem_generate_messages(TARGET FOLDER): the code of every FOLDER/*.proto, for protobuf's lite runtime, as
# <FOLDER/NAME.pb.h>, which the sources of TARGET alone see.
#
# libtorch_cpu.so exports the symbols of another protobuf. So the runtime is linked statically (CMakeLists.txt) and kept
# out of the program's dynamic symbols, as is what TARGET's sources instantiate of its headers: neither finds the other.
function(tandem_generate_messages target folder)
  file(GLOB messages CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.proto")
  set(generated "${CMAKE_BINARY_DIR}/generated/messages")
  file(MAKE_DIRECTORY "${generated}")
  protobuf_generate(TARGET ${target} PROTOS ${messages} IMPORT_DIRS "${CMAKE_CURRENT_SOURCE_DIR}"
                    PROTOC_OUT_DIR "${generated}")
  target_include_directories(${target} SYSTEM PRIVATE "${generated}")
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PRIVATE protobuf::libprotobuf-lite)
  target_link_options(${target} INTERFACE "LINKER:--exclude-libs,libprotobuf-lite.a")
endfunction()
