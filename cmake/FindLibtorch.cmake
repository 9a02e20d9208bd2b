# Imported targets of libtorch from a PyPI wheel (or any folder with lib/ and include/), without the wheel's own
# TorchConfig, which insists on a CUDA toolkit.
#
#   TANDEM_LIBTORCH   folder that holds lib/libtorch_cpu.so and include/; `make setup` prints where its own is
#   Libtorch::cpu     libtorch_cpu and libc10
#   Libtorch::openmp  the OpenMP runtime that libtorch brings, or the compiler's: two in one process would size their
#                     teams apart
#   Libtorch::cuda    adds libtorch_cuda and libc10_cuda (only with TANDEM_CUDA)
#   TANDEM_LIBTORCH_FLAGS   the GPUs that these hold code for, as nvcc was told (only with TANDEM_CUDA)
#
# The wheel's include/ also holds other versions of fmt, protobuf, oneDNN and more. Only ATen, c10, caffe2 and torch are
# exposed, through a farm of links.
set(TANDEM_LIBTORCH "" CACHE PATH "libtorch folder; empty: the one that scripts/setup unpacked")
if(NOT TANDEM_LIBTORCH)
  if(TANDEM_CUDA)
    set(which --print-cuda)
  else()
    set(which --print-libtorch)
  endif()
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/setup ${which}
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed OR NOT EXISTS "${found}/lib/libtorch_cpu.so")
    message(FATAL_ERROR "libtorch not found: run 'make setup' (with TANDEM_CUDA 'make setup-cuda'), or give "
                        "-DTANDEM_LIBTORCH=DIR (DIR/lib/libtorch_cpu.so)")
  endif()
  set(libtorch "${found}")
  set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               third_party/libtorch-requirements.txt third_party/cuda-requirements.txt)
else()
  set(libtorch "${TANDEM_LIBTORCH}")
endif()
if(NOT EXISTS "${libtorch}/lib/libtorch_cpu.so" OR NOT EXISTS "${libtorch}/include/ATen/ATen.h")
  message(FATAL_ERROR "TANDEM_LIBTORCH=${libtorch}: lib/libtorch_cpu.so or include/ATen/ATen.h is missing there")
endif()
set(TANDEM_LIBTORCH_FOUND_AT "${libtorch}")

set(farm "${CMAKE_BINARY_DIR}/libtorch-include")
file(MAKE_DIRECTORY "${farm}")
foreach(folder ATen c10 caffe2 torch)
  file(CREATE_LINK "${libtorch}/include/${folder}" "${farm}/${folder}" SYMBOLIC)
endforeach()

add_library(Libtorch::c10 SHARED IMPORTED GLOBAL)
set_target_properties(Libtorch::c10 PROPERTIES IMPORTED_LOCATION "${libtorch}/lib/libc10.so"
                      INTERFACE_INCLUDE_DIRECTORIES "${farm}")
add_library(Libtorch::cpu SHARED IMPORTED GLOBAL)
set_target_properties(Libtorch::cpu PROPERTIES IMPORTED_LOCATION "${libtorch}/lib/libtorch_cpu.so"
                      INTERFACE_INCLUDE_DIRECTORIES "${farm};${farm}/torch/csrc/api/include"
                      INTERFACE_LINK_LIBRARIES Libtorch::c10
                      INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined")
file(GLOB openmp "${libtorch}/lib/libgomp*.so*" "${libtorch}/lib/libiomp5*.so*")
list(APPEND openmp gomp)
list(GET openmp 0 openmp)
add_library(Libtorch::openmp INTERFACE IMPORTED GLOBAL)
set_target_properties(Libtorch::openmp PROPERTIES INTERFACE_LINK_LIBRARIES "${openmp}")
if(TANDEM_CUDA)
  add_library(Libtorch::c10_cuda SHARED IMPORTED GLOBAL)
  set_target_properties(Libtorch::c10_cuda PROPERTIES IMPORTED_LOCATION "${libtorch}/lib/libc10_cuda.so")
  # libtorch_cuda registers its kernels when it is loaded: it must stay needed although no symbol of it is named.
  add_library(Libtorch::cuda SHARED IMPORTED GLOBAL)
  set_target_properties(Libtorch::cuda PROPERTIES IMPORTED_LOCATION "${libtorch}/lib/libtorch_cuda.so"
                        INTERFACE_LINK_LIBRARIES "Libtorch::cpu;Libtorch::c10_cuda"
                        INTERFACE_LINK_OPTIONS "LINKER:--no-as-needed")
  # What it was compiled for: its own way of saying so (at::show_config) needs a driver.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C grep -a -o -m 1 "gencode;arch=compute[^[:cntrl:]]*"
                          "${libtorch}/lib/libtorch_cuda.so" OUTPUT_VARIABLE flags)
  string(REGEX MATCHALL "code=(sm|compute)_[0-9]+[a-z]?" flags "${flags}")
  list(JOIN flags " " TANDEM_LIBTORCH_FLAGS)
endif()
