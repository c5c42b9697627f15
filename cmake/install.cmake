# For find_package(calibrant) from other C++ projects.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/calibrant)
configure_file(cmake/calibrantConfig.cmake.in calibrantConfig.cmake @ONLY)
write_basic_package_version_file(calibrantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS calibrant EXPORT calibrantTargets)
install(EXPORT calibrantTargets NAMESPACE calibrant:: DESTINATION ${package_dir})
install(DIRECTORY cpp/include/ DESTINATION include)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/calibrantConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/calibrantConfigVersion.cmake DESTINATION ${package_dir})
