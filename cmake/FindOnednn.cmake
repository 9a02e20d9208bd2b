# Imported target of oneDNN from a PyPI wheel, or any folder with lib/libdnnl.so.3 and include/oneapi/dnnl/.
#
#   TANDEM_ONEDNN   that folder; empty: the one that scripts/setup unpacked; OFF: build without (no packed convolutions,
#                   no --layout=blocked)
#   Onednn::dnnl    the library; absent with OFF
#
# It must use the OpenMP runtime that libtorch uses: both name libgomp.so.1, so the loader gives them one.
set(TANDEM_ONEDNN "" CACHE STRING "oneDNN folder; empty: the one that scripts/setup unpacked; OFF: without")
set(onednn "${TANDEM_ONEDNN}")
if(onednn STREQUAL "")
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/setup --print-onednn
                  OUTPUT_VARIABLE onednn OUTPUT_STRIP_TRAILING_WHITESPACE)
  set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               third_party/onednn-requirements.txt)
endif()
if(NOT onednn STREQUAL "OFF")
  if(NOT EXISTS "${onednn}/lib/libdnnl.so.3" OR NOT EXISTS "${onednn}/include/oneapi/dnnl/dnnl.hpp")
    message(FATAL_ERROR "oneDNN not found in '${onednn}': run 'make setup', or give -DTANDEM_ONEDNN=DIR "
                        "(DIR/lib/libdnnl.so.3, DIR/include/oneapi/dnnl/dnnl.hpp) or -DTANDEM_ONEDNN=OFF")
  endif()
  add_library(Onednn::dnnl SHARED IMPORTED GLOBAL)
  set_target_properties(Onednn::dnnl PROPERTIES IMPORTED_LOCATION "${onednn}/lib/libdnnl.so.3"
                        INTERFACE_INCLUDE_DIRECTORIES "${onednn}/include")
endif()
