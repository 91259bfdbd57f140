# A network in software, for tests: a collective around another one, which tests/train/foretold.py puts in its place.
add_library(network MODULE tests/network/network.c graph/base/err.c graph/base/clock.c)
target_compile_options(network PRIVATE ${warnings})
target_link_libraries(network PRIVATE m)
set_target_properties(network PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/network)
