//! Whether the API server asks for the permission `bypass`: the `ValidatingAdmissionPolicy` that is shipped for it, and its
//! binding, are in the cluster as shipped.

use serde_json::Value;

use crate::cluster::fault::FaultClass;
use crate::cluster::object::Names;
use crate::cluster::watch::{WatchEvent, WatchedKind};

/// What is shipped: the specs of the policy in each of its forms, and of the binding.
#[derive(Clone, Debug, Default)]
pub struct ExpectedPermission {
    /// The accepted specs of the `ValidatingAdmissionPolicy`.
    pub policies: Vec<Value>,
    /// The spec of the `ValidatingAdmissionPolicyBinding`.
    pub binding: Value,
}

/// What is known of both.
#[derive(Debug)]
pub(super) struct PermissionWatch {
    expected: ExpectedPermission,
    policy: PermissionObject,
    binding: PermissionObject,
}

/// The state of one of the two objects.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum PermissionObject {
    /// No answer yet.
    #[default]
    Unknown,
    /// The object is as shipped.
    Shipped,
    /// The object is missing, differs, or cannot be read.
    Other,
}

impl PermissionWatch {
    pub(super) fn new(expected: ExpectedPermission) -> Self {
        Self {
            expected,
            policy: PermissionObject::Unknown,
            binding: PermissionObject::Unknown,
        }
    }

    /// Whether both have been asked for.
    pub(super) fn is_known(&self) -> bool {
        self.policy != PermissionObject::Unknown && self.binding != PermissionObject::Unknown
    }

    /// Whether the API server asks.
    pub(super) fn is_checked(&self) -> bool {
        self.policy == PermissionObject::Shipped && self.binding == PermissionObject::Shipped
    }

    /// Takes an event of the policy; true if the answer is another one now.
    pub(super) fn take_policy(&mut self, event: &WatchEvent<Value>) -> bool {
        let expected = &self.expected.policies;
        let next = piece(self.policy, event, |spec| expected.contains(spec));
        let before = (self.is_known(), self.is_checked());
        self.policy = next;
        before != (self.is_known(), self.is_checked())
    }

    /// The same for the binding.
    pub(super) fn take_binding(&mut self, event: &WatchEvent<Value>) -> bool {
        let expected = &self.expected.binding;
        let next = piece(self.binding, event, |spec| spec == expected);
        let before = (self.is_known(), self.is_checked());
        self.binding = next;
        before != (self.is_known(), self.is_checked())
    }
}

fn piece(
    known: PermissionObject,
    event: &WatchEvent<Value>,
    is_shipped: impl Fn(&Value) -> bool,
) -> PermissionObject {
    let of = |object: &Value| {
        let is_shipped = object.get("spec").is_some_and(&is_shipped);
        let is_leaving = object.pointer("/metadata/deletionTimestamp").is_some();
        if is_shipped && !is_leaving {
            PermissionObject::Shipped
        } else {
            PermissionObject::Other
        }
    };
    match event {
        WatchEvent::Listed(objects) => objects.first().map_or(PermissionObject::Other, of),
        WatchEvent::Applied(object) => of(object),
        WatchEvent::Deleted(_) | WatchEvent::Absent => PermissionObject::Other,
        // Without the right to look, nobody knows that somebody asks.
        WatchEvent::Lost(fault) if fault.class == FaultClass::Forbidden => PermissionObject::Other,
        WatchEvent::Lost(_) if known == PermissionObject::Unknown => PermissionObject::Other,
        WatchEvent::Lost(_) | WatchEvent::Alive | WatchEvent::Found => known,
    }
}

/// The name of both objects.
pub const BYPASS: &str = "olmguard-bypass";

const POLICY_NAMES: &Names = &[(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingAdmissionPolicy",
)];
const BINDING_NAMES: &Names = &[(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingAdmissionPolicyBinding",
)];

pub(super) const POLICY: WatchedKind = WatchedKind::optional(POLICY_NAMES).only(BYPASS);
pub(super) const BINDING: WatchedKind = WatchedKind::optional(BINDING_NAMES).only(BYPASS);
