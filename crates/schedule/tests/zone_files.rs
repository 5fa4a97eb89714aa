//! Zone data of the machine in place of what is built in. A process of its own, since the choice is
//! made once.

use std::fs;
use std::path::Path;

use refire_schedule::{
    Schedule, ScheduleSettings, ZoneDataError, ZoneSource, built_in_zone_data_version,
    use_zone_files, zone_data_version, zone_source,
};

/// A compiled zone without changes: five or so hours behind UTC, for ever.
fn zone_file(hours_behind: i32) -> Vec<u8> {
    let mut block = b"TZif2".to_vec();
    block.extend([0; 15]);
    // Counts: UTC and standard marks, leap seconds, changes, one kind of time, four letters.
    for count in [0_u32, 0, 0, 0, 1, 4] {
        block.extend(count.to_be_bytes());
    }
    block.extend((-hours_behind * 3600).to_be_bytes());
    block.extend(*b"\0\0CXT\0");
    let mut file = [block.clone(), block].concat();
    file.extend(format!("\nCXT{hours_behind}\n").into_bytes());
    file
}

#[test]
fn zones_of_the_machine_go_over_what_is_built_in() {
    let nowhere = use_zone_files(Path::new("/nowhere/at/all")).unwrap_err();
    assert!(matches!(nowhere, ZoneDataError::Missing(_)), "{nowhere}");

    let home = std::env::temp_dir().join(format!("refire-zones-{}", std::process::id()));
    fs::create_dir_all(home.join("America")).unwrap();
    fs::write(home.join("tzdata.zi"), "# version 2099z\n# rest\n").unwrap();
    fs::write(home.join("America/New_York"), zone_file(5)).unwrap();
    // Built in it is five hours behind in winter.
    fs::write(home.join("America/Havana"), zone_file(4)).unwrap();
    use_zone_files(&home).unwrap();
    assert_eq!(
        (zone_data_version(), zone_source()),
        ("2099z", ZoneSource::System)
    );
    assert_ne!(built_in_zone_data_version(), "2099z");

    let settings = ScheduleSettings::cron("0 9 * * *").timezone("America/Havana");
    let schedule = Schedule::new(&settings).unwrap();
    let slot = schedule.next("2026-11-17T00:00:00Z".parse().unwrap());
    assert_eq!(slot.unwrap().at.to_string(), "2026-11-17T13:00:00Z");

    let again = use_zone_files(&home).unwrap_err();
    assert!(matches!(again, ZoneDataError::InUse), "{again}");
    fs::remove_dir_all(&home).unwrap();
}
