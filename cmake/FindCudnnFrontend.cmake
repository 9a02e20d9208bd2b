# Imported target of cuDNN's frontend, headers alone, over the cuDNN that libtorch_cuda loads (only with TANDEM_CUDA).
#
#   TANDEM_CUDNN_FRONTEND   folder that holds include/cudnn_frontend.h; empty: the one that scripts/setup unpacked, or
#                           beside libtorch where pip installed it; OFF: build without
#   Cudnn::frontend         headers and libcudnn; absent with OFF, and where something is missing, which one line says:
#                           convolutions on a GPU are ATen's then
set(TANDEM_CUDNN_FRONTEND "" CACHE STRING "cuDNN frontend folder; empty: the one that scripts/setup unpacked; OFF: without")
set(frontend "${TANDEM_CUDNN_FRONTEND}")
if(frontend STREQUAL "")
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/setup --print-cudnn-frontend
                  OUTPUT_VARIABLE frontend OUTPUT_STRIP_TRAILING_WHITESPACE)
  set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               third_party/cudnn-frontend-requirements.txt)
  if(NOT frontend STREQUAL "OFF" AND NOT EXISTS "${frontend}/include/cudnn_frontend.h")
    get_filename_component(frontend "${TANDEM_LIBTORCH_FOUND_AT}/.." ABSOLUTE)
  endif()
endif()
if(frontend STREQUAL "OFF")
  message(STATUS "cuDNN's frontend: OFF; convolutions on GPUs are ATen's")
else()
  set(cudnn "${TANDEM_LIBTORCH_FOUND_AT}/../nvidia/cudnn")   # the one that libtorch loads, where its wheels lie beside it
  find_path(CUDNN_INCLUDE cudnn.h HINTS "${cudnn}/include" ${CUDAToolkit_INCLUDE_DIRS})
  find_library(CUDNN_LIBRARY NAMES libcudnn.so.9 HINTS "${cudnn}/lib" ${CUDAToolkit_LIBRARY_DIR})
  if(NOT EXISTS "${frontend}/include/cudnn_frontend.h" OR NOT CUDNN_INCLUDE OR NOT CUDNN_LIBRARY)
    message(NOTICE "cuDNN's frontend not found (cudnn_frontend.h: '${frontend}/include', cudnn.h: '${CUDNN_INCLUDE}', "
                   "libcudnn.so.9: '${CUDNN_LIBRARY}'): convolutions on GPUs will be ATen's; run 'scripts/setup --cuda', "
                   "or give -DTANDEM_CUDNN_FRONTEND=DIR, or OFF")
  else()
    add_library(Cudnn::frontend SHARED IMPORTED GLOBAL)
    # Without its JSON library, of which the program has another version.
    set_target_properties(Cudnn::frontend PROPERTIES IMPORTED_LOCATION "${CUDNN_LIBRARY}"
                          INTERFACE_INCLUDE_DIRECTORIES "${frontend}/include;${CUDNN_INCLUDE}"
                          INTERFACE_COMPILE_DEFINITIONS CUDNN_FRONTEND_SKIP_JSON_LIB)
  endif()
endif()
