"""What the programs that write hostile files have in common: files of a few kinds, each as large as wanted."""
import os
import sys


def write_wanted(kinds, usage):
    """Writes the files that the command line asks for (FOLDER BYTES [NAME...]; without names all), and prints the path and size of each.

    `kinds`: (name, write(path, most_bytes)) of each file.
    """
    if len(sys.argv) < 3:
        sys.exit(usage)
    folder, most, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    for name, write in kinds:
        if wanted and name.split(".")[0] not in wanted and name not in wanted:
            continue
        path = os.path.join(folder, name)
        write(path, most)
        print(path, os.path.getsize(path), flush=True)
