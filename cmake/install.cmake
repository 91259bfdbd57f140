# ---- installation: all of it or, where something is not built yet, nothing; and scripts, gathered as it has them ----
set(installed ${CMAKE_BINARY_DIR}/tessera ${CMAKE_BINARY_DIR}/libtessera.a ${CMAKE_BINARY_DIR}/libtessera.so)
install(CODE "foreach(file ${installed})
    if(NOT EXISTS \"\${file}\")
        message(FATAL_ERROR \"\${file} is not built, so nothing was installed. \"
            \"First: cmake --build ${CMAKE_BINARY_DIR} --target command shared\")
    endif()
endforeach()")
if(TARGET command)
    install(TARGETS command)
endif()
# Not by its package, whose own private libraries (udev) only a static hwloc needs
pkg_get_variable(hwloc hwloc libdir)
set(hwloc "-L${hwloc} -lhwloc")
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # the package may be moved as a whole
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/tessera.pc CONTENT "prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: tessera
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Requires.private: libprotobuf-c libcjson libcrypto libutf8proc libpcre2-8
Libs: -L\${libdir} -ltessera
Libs.private: ${hwloc} -lm -ldl -pthread
Cflags: -I\${includedir}
")
install(TARGETS tessera shared)
file(GLOB headers CONFIGURE_DEPENDS include/*.h)
install(FILES ${headers} TYPE INCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(GLOB rooms CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/backends backends/*/schemas)
foreach(room IN LISTS rooms)
    cmake_path(GET room PARENT_PATH target)
    install(DIRECTORY backends/${room}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/schemas/${target})
endforeach()
# Scripts of other runtimes, of all rooms in one folder: they import what they share by its name. What a script compiles
# lies in a folder of its name.
file(GLOB scripts CONFIGURE_DEPENDS bench/peers/*.py backends/*/peers/*.py)
set(peers ${scripts})
foreach(script IN LISTS scripts)
    cmake_path(REMOVE_EXTENSION script)
    file(GLOB parts CONFIGURE_DEPENDS ${script}/*.c)
    list(APPEND peers ${parts})
endforeach()
file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/peers)
foreach(peer IN LISTS peers)
    string(REGEX REPLACE "^.*/peers/" "" name ${peer})
    cmake_path(GET name PARENT_PATH below)
    configure_file(${peer} ${CMAKE_BINARY_DIR}/peers/${name} COPYONLY)
    install(FILES ${peer} DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/peers/${below})
endforeach()
