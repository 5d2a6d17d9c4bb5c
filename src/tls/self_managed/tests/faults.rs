//! A store that is away, contended, emptied or damaged.

use std::time::Duration;

use super::world::World;
use crate::tls::ClientCa;
use crate::tls::tests::pairs::{ca, file};

const DAY: i64 = 24 * 60 * 60;
const A_WHILE: Duration = Duration::from_mins(10);

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_stops_nothing_that_is_served() {
    let world = World::new();
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    world.store.with(|shelf| shelf.is_away = true);
    world.clock.jump(6 * DAY);
    tokio::time::sleep(A_WHILE).await;
    let refused = "the store of the certificate authority: the store is away";
    assert_eq!(told.all(), [Err(refused.to_owned())], "once");
    assert_eq!(replica.leaf(), before);
    world
        .all_connect(std::slice::from_ref(&replica), "away")
        .await;
    world.store.with(|shelf| shelf.is_away = false);
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(told.all()[1..], [Ok(replica.leaf().serial.clone())]);
    assert_ne!(replica.leaf(), before, "it was past two thirds");
    world.all_connect(&[replica], "back").await;
}

/// To end would be to be started again, and again.
#[tokio::test(start_paused = true)]
async fn a_start_waits_for_the_store_as_long_as_it_takes() {
    let world = World::new();
    world.store.with(|shelf| shelf.is_away = true);
    let back = async {
        tokio::time::sleep(A_WHILE).await;
        world.store.with(|shelf| shelf.is_away = false);
    };
    let (replica, ()) = tokio::join!(world.replica(), back);
    let (replica, told) = replica.unwrap();
    let away = "the store of the certificate authority: the store is away";
    assert_eq!(told.all(), [Err(away.to_owned())], "once");
    world.all_connect(&[replica], "started").await;
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_tried_again_and_told_where_it_lasts() {
    let world = World::new();
    world.store.with(|shelf| shelf.conflicts = 3);
    let (replica, told) = world.replica().await.unwrap();
    assert!(told.all().is_empty());
    world.all_connect(&[replica], "after conflicts").await;
    let world = World::new();
    world.store.with(|shelf| shelf.conflicts = usize::MAX);
    let calm = async {
        tokio::time::sleep(A_WHILE).await;
        world.store.with(|shelf| shelf.conflicts = 0);
    };
    let (replica, ()) = tokio::join!(world.replica(), calm);
    let expected = "the store of the certificate authority: written by others 10 times in a row";
    assert_eq!(replica.unwrap().1.all(), [Err(expected.to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn with_nobody_to_tell_it_serves_and_renews_and_tells_once_somebody_is_there() {
    let world = World::new();
    world.store.with(|shelf| shelf.is_deserted = true);
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    world.clock.jump(6 * DAY);
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(told.all(), [Ok(replica.leaf().serial.clone())]);
    assert_ne!(replica.leaf(), before, "it was past two thirds");
    world.store.with(|shelf| shelf.is_deserted = false);
    tokio::time::sleep(A_WHILE / 10).await;
    world.all_connect(&[replica], "somebody is there").await;
}

/// Whoever comes back as they were trusts what they trusted.
#[tokio::test(start_paused = true)]
async fn an_authority_that_nobody_was_told_of_does_not_sign() {
    let world = World::new();
    let (replica, _) = world.replica().await.unwrap();
    tokio::time::sleep(A_WHILE).await;
    world.store.with(|shelf| shelf.is_deserted = true);
    world.clock.jump(244 * DAY);
    tokio::time::sleep(A_WHILE * 3).await;
    world
        .all_connect(std::slice::from_ref(&replica), "as they were")
        .await;
    world.store.with(|shelf| shelf.is_deserted = false);
    for _ in 0..20 {
        tokio::time::sleep(A_WHILE / 20).await;
        world
            .all_connect(std::slice::from_ref(&replica), "back")
            .await;
    }
    assert_eq!(world.store.authorities(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_damaged_is_told_and_never_written_over() {
    let world = World::new();
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    let damaged = Some((77, b"{}".to_vec()));
    world.store.with(|shelf| shelf.content.clone_from(&damaged));
    world.clock.jump(5 * DAY);
    tokio::time::sleep(A_WHILE).await;
    let all = told.all();
    assert_eq!(all.len(), 1, "{all:?}");
    let error = all[0].as_ref().unwrap_err();
    assert!(error.contains("is damaged: expected JSON"), "{error}");
    assert!(world.store.with(|shelf| shelf.content == damaged));
    assert_eq!(replica.leaf(), before);
    let error = world.replica().await.unwrap_err().to_string();
    assert!(error.contains("is damaged"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_was_deleted_or_emptied_is_put_back() {
    let world = World::new();
    let (replica, told) = world.replica().await.unwrap();
    let before = (world.store.bundle(), replica.leaf());
    for emptied in [None, Some((99, Vec::new()))] {
        world.store.with(|shelf| shelf.content.clone_from(&emptied));
        tokio::time::sleep(A_WHILE).await;
        assert!(world.store.with(|shelf| shelf.content != emptied));
        assert_eq!((world.store.bundle(), replica.leaf()), before);
    }
    assert!(told.all().is_empty());
    let (second, _) = world.replica().await.unwrap();
    world.all_connect(&[replica, second], "put back").await;
}

#[tokio::test(start_paused = true)]
async fn clients_that_cannot_be_judged_anew_hold_up_no_leaf() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new();
    world.terms.client_ca = Some(ClientCa {
        file: file(folder.path(), "ca.crt", ca("clients").pem()),
        allowed: std::iter::empty().collect(),
    });
    let (replica, told) = world.replica().await.unwrap();
    let before = replica.leaf();
    file(folder.path(), "ca.crt", "");
    world.clock.jump(5 * DAY);
    tokio::time::sleep(A_WHILE).await;
    let all = told.all();
    assert_ne!(replica.leaf(), before, "it was past two thirds");
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.contains(&Ok(replica.leaf().serial.clone())));
    let error = all.iter().find_map(|told| told.as_ref().err()).unwrap();
    assert!(error.contains("ca.crt: no certificate in it"), "{error}");
    world.store.with(|shelf| shelf.is_away = true);
    file(folder.path(), "ca.crt", ca("others").pem());
    tokio::time::sleep(A_WHILE).await;
    let last = told.all().into_iter().rfind(Result::is_ok);
    assert_eq!(last, Some(Ok(replica.leaf().serial.clone())));
    assert_eq!(told.all().len(), 4, "taken over without the store");
}
