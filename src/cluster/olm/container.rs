//! Which container of a Deployment is operator-controller: there may be sidecars.

use k8s_openapi::api::core::v1::Container;

use super::image;

/// The first that runs a program of that name; else the one named `manager`, as in every manifest of
/// OLM v1; else the one whose image is named so; else the only one.
pub(super) fn manager(containers: &[Container]) -> Option<&Container> {
    let first = |is: fn(&Container) -> bool| containers.iter().find(|container| is(container));
    first(runs_it)
        .or_else(|| first(|container| container.name == "manager"))
        .or_else(|| first(has_its_image))
        .or(match containers {
            [only] => Some(only),
            _ => None,
        })
}

fn runs_it(container: &Container) -> bool {
    let mut words = container.command.iter().flatten();
    words
        .next()
        .is_some_and(|program| program.rsplit('/').next() == Some(NAME))
}

/// Builds of vendors carry a prefix.
fn has_its_image(container: &Container) -> bool {
    let image = container.image.as_deref().unwrap_or_default();
    image::name(image).ends_with(NAME)
}

const NAME: &str = "operator-controller";
