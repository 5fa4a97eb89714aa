//! File systems for one test: a small one in memory, and one in a file whose state can be copied at
//! any moment, as a power cut would leave it. Each is unmounted when it goes out of scope.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::tracer::tool;

/// Bytes of the outer image; sparse, so that only what is written takes room.
const OUTER_BYTES: u64 = 4 << 30;
/// Bytes of the inner image.
const INNER_BYTES: u64 = 256 << 20;

/// Why nothing can be mounted here; none = it can.
pub(crate) fn cannot_mount() -> Option<String> {
    let user = Command::new("id").arg("-u").output().unwrap();
    if String::from_utf8_lossy(&user.stdout).trim() != "0" {
        return Some("only root may mount file systems".to_owned());
    }
    // Nor may root in many a container.
    let place = tempfile::tempdir().unwrap();
    let arguments = ["-t", "tmpfs", "tmpfs", text(place.path())];
    if let Err(why) = try_to("mount", &arguments) {
        return Some(why);
    }
    run("umount", &[text(place.path())]);
    None
}

/// Why no image can be mounted here; none = it can.
pub(crate) fn cannot_mount_images() -> Option<String> {
    if let Some(why) = cannot_mount() {
        return Some(why);
    }
    for name in ["mkfs.xfs", "mkfs.ext4", "losetup"] {
        tool(name).unwrap_or_else(|| panic!("{name} is missing: scripts/test-tools installs it"));
    }
    let place = tempfile::tempdir().unwrap();
    let image = place.path().join("image");
    sparse(&image, 1 << 20);
    match try_to("losetup", &["--find", "--show", text(&image)]) {
        Ok(device) => run("losetup", &["--detach", device.trim()]),
        Err(why) => return Some(why),
    }
    let known = std::fs::read_to_string("/proc/filesystems").unwrap();
    let missing = ["xfs", "ext4"].into_iter().find(|name| {
        let is_known = known.lines().any(|line| line.trim() == *name);
        // A kernel that keeps it in a module learns of it when it is first used.
        !is_known && !is_loaded(name)
    });
    missing.map(|name| format!("the kernel has no {name}"))
}

fn is_loaded(module: &str) -> bool {
    let Some(modprobe) = tool("modprobe") else {
        return false;
    };
    let loaded = Command::new(modprobe).arg(module).output();
    loaded.is_ok_and(|loaded| loaded.status.success())
}

#[track_caller]
fn run(name: &str, arguments: &[&str]) {
    if let Err(why) = try_to(name, arguments) {
        panic!("{why}");
    }
}

/// What a program printed, or why it failed.
fn try_to(name: &str, arguments: &[&str]) -> Result<String, String> {
    let program = tool(name).unwrap_or_else(|| panic!("{name} is missing"));
    let output = Command::new(program).args(arguments).output().unwrap();
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name} {arguments:?}: {}", said.trim()))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Waits until nobody holds its input any more, then unmounts: first properly, as often as somebody
/// is still busy there, at last so that only those see it who do.
const UNMOUNT: &str = r#"
    trap '' HUP INT TERM
    cat
    for try in $(seq 50); do
        umount "$1" && exit
        sleep 0.1
    done
    umount --lazy "$1"
"#;

/// A mounted file system. It is unmounted when this value goes, and also when the whole process
/// does: by another one, in a session of its own, that is told by a closed pipe.
pub(crate) struct Mount {
    point: PathBuf,
    guard: Child,
}

impl Mount {
    /// One in memory, so large.
    pub(crate) fn memory(point: &Path, mib: u32) -> Self {
        let size = format!("size={mib}m");
        Self::new(point, &["-t", "tmpfs", "-o", &size, "tmpfs"])
    }

    /// The one in an image.
    fn image(image: &Path, point: &Path) -> Self {
        Self::new(point, &["-o", "loop", text(image)])
    }

    fn new(point: &Path, arguments: &[&str]) -> Self {
        std::fs::create_dir_all(point).unwrap();
        run("mount", &[arguments, &[text(point)]].concat());
        let guard = Command::new(tool("setsid").unwrap())
            .args(["sh", "-c", UNMOUNT, "sh"])
            .arg(point)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            point: point.to_owned(),
            guard,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.point
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// A disk that can be looked at as if the power had just failed. What the system keeps in memory
/// for it is not in the copies; only what has reached the device is.
pub(crate) struct Disk {
    // In the order in which they go: the inner one stands on the outer.
    inner: Mount,
    outer: Mount,
    root: PathBuf,
    cuts: usize,
}

impl Disk {
    pub(crate) fn make(root: &Path) -> Self {
        let image = root.join("outer.img");
        sparse(&image, OUTER_BYTES);
        run("mkfs.xfs", &["-q", "-m", "reflink=1", text(&image)]);
        let outer = Mount::image(&image, &root.join("outer"));
        let image = outer.path().join("disk.img");
        sparse(&image, INNER_BYTES);
        run("mkfs.ext4", &["-q", "-F", text(&image)]);
        let inner = Mount::image(&image, &root.join("disk"));
        Self {
            inner,
            outer,
            root: root.to_owned(),
            cuts: 0,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.inner.path()
    }

    /// The disk as it is at this moment, without what only the system's memory has.
    pub(crate) fn cut(&mut self) -> Cut {
        self.cuts += 1;
        let from = self.outer.path().join("disk.img");
        let image = self.outer.path().join(format!("cut-{}.img", self.cuts));
        run("cp", &["--reflink=always", text(&from), text(&image)]);
        Cut {
            image,
            point: self.root.join(format!("cut-{}", self.cuts)),
        }
    }
}

/// A copy of a disk.
pub(crate) struct Cut {
    image: PathBuf,
    point: PathBuf,
}

impl Cut {
    /// Mounts it, as the next start of the machine would.
    pub(crate) fn mount(&self) -> Mount {
        Mount::image(&self.image, &self.point)
    }
}

fn sparse(path: &Path, bytes: u64) {
    let file = std::fs::File::create(path).unwrap();
    file.set_len(bytes).unwrap();
}
