//! Under which names catalogs are found, while those change.

use super::*;
use crate::cluster::watch::{FIRST_RECHECK, RECHECK};

const OLD: &str = "/apis/catalogd.operatorframework.io/v1alpha1/clustercatalogs";

#[tokio::test(start_paused = true)]
async fn a_cluster_without_the_api_is_waited_for() {
    let api = ApiServer::start();
    let mut told = Told::by(&api);
    told.says("lost not_served").await;
    let fault = CatalogsError::not_served();
    assert_eq!(fault.class.as_str(), "not_served");
    assert_eq!(
        fault.words,
        "the cluster does not serve ClusterCatalog: looked for ClusterCatalog of olm.operatorframework.io/v1, \
         ClusterCatalog of olm.operatorframework.io/v1alpha1, \
         ClusterCatalog of catalogd.operatorframework.io/v1alpha1, \
         Catalog of catalogd.operatorframework.io/v1alpha1; is OLM v1 installed?"
    );
    assert_eq!(
        list(api.client()).await.unwrap_err(),
        CatalogsError::NotServed
    );
    serve(&api, "olm.operatorframework.io/v1");
    api.put(V1, catalog("a"));
    told.says("listed a").await;
}

#[tokio::test(start_paused = true)]
async fn the_best_name_that_is_served_is_taken() {
    let api = ApiServer::start();
    for (served, collection) in [
        ("catalogd.operatorframework.io/v1alpha1", OLD),
        ("olm.operatorframework.io/v1alpha1", V1ALPHA1),
        ("olm.operatorframework.io/v1", V1),
    ] {
        serve(&api, served);
        api.put(collection, catalog(&served.replace('/', ".")));
        let (all, _) = list(api.client()).await.unwrap();
        assert_eq!(all[0].state.name, served.replace('/', "."));
    }
}

#[tokio::test(start_paused = true)]
async fn the_kind_of_the_first_releases_is_a_catalog() {
    let api = ApiServer::start();
    api.serve(
        "catalogd.operatorframework.io/v1alpha1",
        "catalogs",
        "Catalog",
    );
    api.put(
        "/apis/catalogd.operatorframework.io/v1alpha1/catalogs",
        catalog("a"),
    );
    Told::by(&api).says("listed a").await;
}

#[tokio::test(start_paused = true)]
async fn a_better_name_is_noticed_beside_the_one_that_is_watched() {
    let api = ApiServer::start();
    serve(&api, "catalogd.operatorframework.io/v1alpha1");
    api.put(OLD, catalog("old"));
    let mut told = Told::by(&api);
    told.says("listed old").await;
    let since = Instant::now();
    serve(&api, "olm.operatorframework.io/v1");
    api.put(V1, catalog("new"));
    told.says("listed new").await;
    assert!(since.elapsed() <= FIRST_RECHECK + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_better_name_is_noticed_late_in_the_life_of_a_watch() {
    let api = ApiServer::start();
    serve(&api, "catalogd.operatorframework.io/v1alpha1");
    api.put(OLD, catalog("old"));
    let mut told = Told::by(&api);
    told.says("listed old").await;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_hours(1) {
        let event = told.event().await;
        assert!(matches!(event, WatchEvent::Alive), "{event:?}");
    }
    let since = Instant::now();
    serve(&api, "olm.operatorframework.io/v1");
    api.put(V1, catalog("new"));
    told.says("listed new").await;
    assert!(since.elapsed() <= RECHECK + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn an_api_that_is_taken_away_is_waited_for_and_found_under_another_version() {
    let api = cluster();
    api.put(V1, catalog("a"));
    let mut told = Told::by(&api);
    told.says("listed a").await;
    api.unserve("olm.operatorframework.io/v1", "clustercatalogs");
    told.says("lost not_served").await;
    serve(&api, "olm.operatorframework.io/v1alpha1");
    api.put(V1ALPHA1, catalog("b"));
    told.says("listed b").await;
}
