"""The machine that a run was on, as far as it bears on speed."""

import os
import platform
import shutil
import subprocess
from pathlib import Path


def describe(data: Path) -> dict[str, str]:
    return {
        "processor": f"{os.cpu_count()} cores of {_processor()}",
        "memory": f"{_memory_gib()} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "data": f"{_file_system(data)}, {shutil.disk_usage(data).free // 2**30} GiB free",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "java": _java(),
        "load": f"{os.getloadavg()[0]:.1f} before the run",
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {platform.machine()}" if names else platform.machine()


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _file_system(path: Path) -> str:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    above = [(each[1], each[2]) for each in mounts if path.resolve().is_relative_to(each[1])]
    return max(above, key=lambda each: len(each[0]))[1]


def _java() -> str:
    try:
        told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return told.stderr.splitlines()[0]
