//! The built-in kinds of Kubernetes. Made by `tools/schema-table`: do not edit.
//!
//! Facts of Kubernetes' API (Apache-2.0), from kubernetes-validate 1.37.0, kubernetes-json-schema/v1.37.0-local/_definitions.json
//! sha256 e1cc369ddafebc822940791b134361062e1b754a393104857ede92a81f2aa2a2
//! 862 definitions, 325 kinds; in fields: 457 list types, 108 list-map-keys, 92 patch strategies, 88 patch merge keys, 6 map types.

use std::borrow::Cow;

use super::extensions::{MapType, PatchStrategy};
use super::table::{Field, KeyDefaultEntry, KeyEntry, KindEntry, ListRelation, Run, Table, Type};

pub(super) static BUILTIN: Table = Table {
    names: Cow::Borrowed(NAMES),
    kinds: Cow::Borrowed(&KINDS),
    types: Cow::Borrowed(&TYPES),
    fields: Cow::Borrowed(&FIELDS),
    keys: Cow::Borrowed(&KEYS),
};

const fn r(start: u32, len: u32) -> Run {
    Run::new(start, len)
}

const fn f(start: u32, len: u32, index: u32) -> Field {
    Field { name: r(start, len), index }
}

const fn e(start: u32, len: u32, default: KeyDefaultEntry) -> KeyEntry {
    KeyEntry { name: r(start, len), default }
}

const fn k(g: u32, g_len: u32, v: u32, v_len: u32, k: u32, k_len: u32, root: u32) -> KindEntry {
    KindEntry { group: r(g, g_len), version: r(v, v_len), kind: r(k, k_len), root }
}

const fn s(merge: bool, replace: bool, retain_keys: bool) -> PatchStrategy {
    PatchStrategy { merge, replace, retain_keys }
}

const NAMES: &str = "\
preferredDuringSchedulingIgnoredDuringExecutionrequiredDuringSchedulingIgnoredDuringExecutionVal\
idatingAdmissionPolicyBindingListnodeAllocatableResourceClaimStatusesMutatingAdmissionPolicyBind\
ingListValidatingWebhookConfigurationListMutatingWebhookConfigurationListPriorityLevelConfigurat\
ionListCertificateSigningRequestListResourcePoolStatusRequestListValidatingAdmissionPolicyListCu\
stomResourceDefinitionListadmissionregistration.k8s.ioflowcontrol.apiserver.k8s.ioHorizontalPodA\
utoscalerListMutatingAdmissionPolicyListStorageVersionMigrationListcompositePodGroupTemplatescon\
trollerPublishSecretRefephemeralContainerStatusesPersistentVolumeClaimListPodCertificateRequestL\
istReplicationControllerListResourceClaimTemplateListVolumeAttributesClassListallocatedResourceS\
tatusescontrollerExpandSecretRefinternal.apiserver.k8s.iorbac.authorization.k8s.iotopologySpread\
ConstraintsunverifiedUserAnnotationsLocalSubjectAccessReviewallocatedResourcesStatusnodeAllocata\
bleResourcesx-kubernetes-validationsPodDisruptionBudgetListSelfSubjectAccessReviewdisableResizeP\
reemptionstoragemigration.k8s.iouncountedTerminatedPodsCSIStorageCapacityListClusterRoleBindingL\
istClusterTrustBundleListControllerRevisionListSelfSubjectRulesReviewapiregistration.k8s.ioCompo\
sitePodGroupListauthentication.k8s.ioinitContainerStatusesresourceClaimStatusesPersistentVolumeL\
istVolumeAttachmentListadditionalPropertiesapiextensions.k8s.ioclusterRoleSelectorsexcludeResour\
ceRulesmaxLimitRequestRationodePublishSecretRefvolumeClaimTemplatesvolumeLifecycleModesComponent\
StatusListDeviceTaintRuleListEvictionRequestListcertificates.k8s.iocoordination.k8s.ioephemeralC\
ontainersnodeExpandSecretRefpodPreemptionPolicyLeaseCandidateListServiceAccountListStorageVersio\
nListattachmentMetadataclusterTrustBundledeprecatedTopologyevictionRespondersimagepolicy.k8s.ion\
odeStageSecretRefrestartPolicyRulesskipNodeOperationsEndpointSliceListNetworkPolicyListPriorityC\
lassListResourceClaimListResourceQuotaListResourceSliceListSelfSubjectReviewallowedTopologiescon\
tainerStatusesdecodableVersionsnamespaceSelectornetworking.k8s.ionodeSelectorTermsnotReadyAddres\
sespatternPropertiespodGroupTemplatesresourceClaimNamescheduling.k8s.iovalidationActionswhenUnsa\
tisfiableIngressClassListRuntimeClassListStorageClassListadmission.k8s.iobindMountOptionsconsume\
dCapacityconsumesCountersdiscovery.k8s.iohealthConditionsimagePullSecretsinlineVolumeSpeclifecyc\
le.k8s.iomatchConstraintsnonResourceRulespodFailurePolicyresourceFieldRefschedulingPolicytargetR\
espondersvolumeAttributesAPIResourceListClusterRoleListDeviceClassListPodTemplateListServiceCIDR\
ListStatefulSetListadditionalItemsaggregationRuleconfigMapKeyRefmatchConditionsnonResourceURLsop\
enAPIV3SchemaownerReferencespodAffinityTermpodAntiAffinityresource.k8s.ioschedulingGatesstorageV\
ersionsuserAnnotationsAPIServiceListDeploymentListFlowSchemaListLimitRangeListReplicaSetListcurr\
entMetricsdefaultBackenddefaultRequestdisruptionModefirstAvailableinitContainersinvolvedObjectma\
tchResourcesobjectSelectorpodCertificateresourceClaimsscaleTargetRefservedVersionssharedCounters\
storage.k8s.ioCSIDriverListConfigMapListDaemonSetListDeleteOptionsEndpointsListIPAddressListName\
spaceListcontainerPortdisruptedPodsevents.k8s.iolabelSelectormanagedFieldsresourceRulesscopeSele\
ctorstorageHealthvolumeDevicesAPIGroupListEvictionListTokenRequestWorkloadListattestationsdepend\
encieshealthStatusnodeAffinitynodeTopologysecretKeyRefsubresourcesvolumeHealthvolumeMountsAPIVer\
sionsCSINodeListCronJobListIngressListTokenReviewallocatableannotationsapiServerIDautoscalingdef\
initionsdownwardAPIhostAliasesjobTemplatematchLabelsnode.k8s.ioonExitCodespodSelectorreservedFor\
topologyKeySecretListWatchEventallocationattributesbinaryDataconditionscontainersdataSourcedevic\
ePathfileKeyReffinalizersflexVolumenamespacesparameterspreferencepropertiesrequestersresourceIDr\
espondersstringDataEventListLeaseListaddressesapiGroupsendpointsexitCodesmountPathparamKindproje\
ctedregardingsecretRefstorageossucceededtargetRefvalueFromvariablesaffinitycapacitycountersexter\
nalfieldReffieldsV1metadataoverheadparamRefpodCIDRspodFixedprotocolrequestsselectorstrategysubje\
ctstemplateuserInfov1alpha1v1alpha2v1alpha3versionswebhooks$schemaPodListbackenddevicesdriversex\
actlyexamplehostIPsingressmappingmetricsoptionsrelatedresultsroleRefscaleIOsecretsserviceshareID\
subsetsv1beta1v1beta2v1beta3volumesactivecephfscinderclaimsegressfailedlabelslimitsopaquepodIPsr\
easonsinglestatusvaluesScaleallOfanyOfbasicbatchextraiscsiitemsoneOfpathsportsrulesverbs$refapps\
enumfromhardhttppodspoolspectypeusedTCPenvrbduidv2\
";

static KINDS: [KindEntry; 325] = [
    k(0, 0, 4147, 2, 3294, 8, 0), // v1 APIGroup
    k(0, 0, 4147, 2, 3294, 12, 0), // v1 APIGroupList
    k(0, 0, 4147, 2, 2521, 15, 0), // v1 APIResourceList
    k(0, 0, 4147, 2, 3450, 11, 0), // v1 APIVersions
    k(0, 0, 4147, 2, 118, 7, 1), // v1 Binding
    k(0, 0, 4147, 2, 1527, 15, 2), // v1 ComponentStatus
    k(0, 0, 4147, 2, 1527, 19, 3), // v1 ComponentStatusList
    k(0, 0, 4147, 2, 3099, 9, 4), // v1 ConfigMap
    k(0, 0, 4147, 2, 3099, 13, 5), // v1 ConfigMapList
    k(0, 0, 4147, 2, 3125, 13, 0), // v1 DeleteOptions
    k(0, 0, 4147, 2, 3138, 9, 6), // v1 Endpoints
    k(0, 0, 4147, 2, 3138, 13, 7), // v1 EndpointsList
    k(0, 0, 4147, 2, 3674, 5, 8), // v1 Event
    k(0, 0, 4147, 2, 3859, 9, 9), // v1 EventList
    k(0, 0, 4147, 2, 2848, 10, 10), // v1 LimitRange
    k(0, 0, 4147, 2, 2848, 14, 11), // v1 LimitRangeList
    k(0, 0, 4147, 2, 3164, 9, 12), // v1 Namespace
    k(0, 0, 4147, 2, 3164, 13, 13), // v1 NamespaceList
    k(0, 0, 4147, 2, 1863, 4, 14), // v1 Node
    k(0, 0, 4147, 2, 3464, 8, 15), // v1 NodeList
    k(0, 0, 4147, 2, 625, 16, 16), // v1 PersistentVolume
    k(0, 0, 4147, 2, 625, 21, 17), // v1 PersistentVolumeClaim
    k(0, 0, 4147, 2, 625, 25, 18), // v1 PersistentVolumeClaimList
    k(0, 0, 4147, 2, 1327, 20, 19), // v1 PersistentVolumeList
    k(0, 0, 4147, 2, 476, 3, 20), // v1 Pod
    k(0, 0, 4147, 2, 4194, 7, 21), // v1 PodList
    k(0, 0, 4147, 2, 2566, 11, 22), // v1 PodTemplate
    k(0, 0, 4147, 2, 2566, 15, 23), // v1 PodTemplateList
    k(0, 0, 4147, 2, 675, 21, 24), // v1 ReplicationController
    k(0, 0, 4147, 2, 675, 25, 25), // v1 ReplicationControllerList
    k(0, 0, 4147, 2, 1945, 13, 26), // v1 ResourceQuota
    k(0, 0, 4147, 2, 1945, 17, 27), // v1 ResourceQuotaList
    k(0, 0, 4147, 2, 590, 6, 28), // v1 Secret
    k(0, 0, 4147, 2, 3659, 10, 29), // v1 SecretList
    k(0, 0, 4147, 2, 1697, 7, 30), // v1 Service
    k(0, 0, 4147, 2, 1697, 14, 31), // v1 ServiceAccount
    k(0, 0, 4147, 2, 1697, 18, 32), // v1 ServiceAccountList
    k(0, 0, 4147, 2, 2809, 11, 33), // v1 ServiceList
    k(0, 0, 4147, 2, 157, 6, 0), // v1 Status
    k(0, 0, 4147, 2, 3669, 10, 34), // v1 WatchEvent
    k(2265, 16, 4147, 2, 3125, 13, 0), // admission.k8s.io/v1 DeleteOptions
    k(2265, 16, 4327, 7, 3125, 13, 0), // admission.k8s.io/v1beta1 DeleteOptions
    k(2265, 16, 4147, 2, 3669, 10, 34), // admission.k8s.io/v1 WatchEvent
    k(2265, 16, 4327, 7, 3669, 10, 34), // admission.k8s.io/v1beta1 WatchEvent
    k(410, 28, 4147, 2, 3125, 13, 0), // admissionregistration.k8s.io/v1 DeleteOptions
    k(410, 28, 4327, 7, 3125, 13, 0), // admissionregistration.k8s.io/v1beta1 DeleteOptions
    k(410, 28, 4147, 8, 3125, 13, 0), // admissionregistration.k8s.io/v1alpha1 DeleteOptions
    k(410, 28, 4147, 2, 165, 23, 35), // admissionregistration.k8s.io/v1 MutatingAdmissionPolicy
    k(410, 28, 4327, 7, 165, 23, 35), // admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy
    k(410, 28, 4147, 8, 165, 23, 36), // admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy
    k(410, 28, 4147, 2, 165, 30, 37), // admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding
    k(410, 28, 4327, 7, 165, 30, 37), // admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyBinding
    k(410, 28, 4147, 8, 165, 30, 37), // admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding
    k(410, 28, 4147, 2, 165, 34, 38), // admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBindingList
    k(410, 28, 4327, 7, 165, 34, 38), // admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyBindingList
    k(410, 28, 4147, 8, 165, 34, 38), // admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBindingList
    k(410, 28, 4147, 2, 493, 27, 39), // admissionregistration.k8s.io/v1 MutatingAdmissionPolicyList
    k(410, 28, 4327, 7, 493, 27, 39), // admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyList
    k(410, 28, 4147, 8, 493, 27, 40), // admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyList
    k(410, 28, 4147, 2, 233, 28, 41), // admissionregistration.k8s.io/v1 MutatingWebhookConfiguration
    k(410, 28, 4147, 2, 233, 32, 42), // admissionregistration.k8s.io/v1 MutatingWebhookConfigurationList
    k(410, 28, 4147, 2, 93, 25, 43), // admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy
    k(410, 28, 4147, 2, 93, 32, 44), // admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding
    k(410, 28, 4147, 2, 93, 36, 45), // admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBindingList
    k(410, 28, 4147, 2, 353, 29, 46), // admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyList
    k(410, 28, 4147, 2, 199, 30, 41), // admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration
    k(410, 28, 4147, 2, 199, 34, 42), // admissionregistration.k8s.io/v1 ValidatingWebhookConfigurationList
    k(410, 28, 4147, 2, 3669, 10, 34), // admissionregistration.k8s.io/v1 WatchEvent
    k(410, 28, 4327, 7, 3669, 10, 34), // admissionregistration.k8s.io/v1beta1 WatchEvent
    k(410, 28, 4147, 8, 3669, 10, 34), // admissionregistration.k8s.io/v1alpha1 WatchEvent
    k(1387, 20, 4147, 2, 382, 24, 47), // apiextensions.k8s.io/v1 CustomResourceDefinition
    k(1387, 20, 4147, 2, 382, 28, 48), // apiextensions.k8s.io/v1 CustomResourceDefinitionList
    k(1387, 20, 4147, 2, 3125, 13, 0), // apiextensions.k8s.io/v1 DeleteOptions
    k(1387, 20, 4327, 7, 3125, 13, 0), // apiextensions.k8s.io/v1beta1 DeleteOptions
    k(1387, 20, 4147, 2, 3669, 10, 34), // apiextensions.k8s.io/v1 WatchEvent
    k(1387, 20, 4327, 7, 3669, 10, 34), // apiextensions.k8s.io/v1beta1 WatchEvent
    k(1221, 22, 4147, 2, 2806, 10, 12), // apiregistration.k8s.io/v1 APIService
    k(1221, 22, 4147, 2, 2806, 14, 13), // apiregistration.k8s.io/v1 APIServiceList
    k(1221, 22, 4147, 2, 3125, 13, 0), // apiregistration.k8s.io/v1 DeleteOptions
    k(1221, 22, 4327, 7, 3125, 13, 0), // apiregistration.k8s.io/v1beta1 DeleteOptions
    k(1221, 22, 4147, 2, 3669, 10, 34), // apiregistration.k8s.io/v1 WatchEvent
    k(1221, 22, 4327, 7, 3669, 10, 34), // apiregistration.k8s.io/v1beta1 WatchEvent
    k(4508, 4, 4147, 2, 1177, 18, 49), // apps/v1 ControllerRevision
    k(4508, 4, 4147, 2, 1177, 22, 50), // apps/v1 ControllerRevisionList
    k(4508, 4, 4147, 2, 3112, 9, 51), // apps/v1 DaemonSet
    k(4508, 4, 4147, 2, 3112, 13, 52), // apps/v1 DaemonSetList
    k(4508, 4, 4147, 2, 3125, 13, 0), // apps/v1 DeleteOptions
    k(4508, 4, 4334, 7, 3125, 13, 0), // apps/v1beta2 DeleteOptions
    k(4508, 4, 4327, 7, 3125, 13, 0), // apps/v1beta1 DeleteOptions
    k(4508, 4, 4147, 2, 2820, 10, 53), // apps/v1 Deployment
    k(4508, 4, 4147, 2, 2820, 14, 54), // apps/v1 DeploymentList
    k(4508, 4, 4147, 2, 2862, 10, 51), // apps/v1 ReplicaSet
    k(4508, 4, 4147, 2, 2862, 14, 52), // apps/v1 ReplicaSetList
    k(4508, 4, 4147, 2, 2596, 11, 55), // apps/v1 StatefulSet
    k(4508, 4, 4147, 2, 2596, 15, 56), // apps/v1 StatefulSetList
    k(4508, 4, 4147, 2, 3669, 10, 34), // apps/v1 WatchEvent
    k(4508, 4, 4334, 7, 3669, 10, 34), // apps/v1beta2 WatchEvent
    k(4508, 4, 4327, 7, 3669, 10, 34), // apps/v1beta1 WatchEvent
    k(1264, 21, 4147, 2, 3125, 13, 0), // authentication.k8s.io/v1 DeleteOptions
    k(1264, 21, 4327, 7, 3125, 13, 0), // authentication.k8s.io/v1beta1 DeleteOptions
    k(1264, 21, 4147, 8, 3125, 13, 0), // authentication.k8s.io/v1alpha1 DeleteOptions
    k(1264, 21, 4147, 2, 1979, 17, 57), // authentication.k8s.io/v1 SelfSubjectReview
    k(1264, 21, 4147, 2, 3318, 12, 58), // authentication.k8s.io/v1 TokenRequest
    k(1264, 21, 4147, 2, 3494, 11, 59), // authentication.k8s.io/v1 TokenReview
    k(1264, 21, 4147, 2, 3669, 10, 34), // authentication.k8s.io/v1 WatchEvent
    k(1264, 21, 4327, 7, 3669, 10, 34), // authentication.k8s.io/v1beta1 WatchEvent
    k(1264, 21, 4147, 8, 3669, 10, 34), // authentication.k8s.io/v1alpha1 WatchEvent
    k(830, 20, 4147, 2, 3125, 13, 0), // authorization.k8s.io/v1 DeleteOptions
    k(830, 20, 4327, 7, 3125, 13, 0), // authorization.k8s.io/v1beta1 DeleteOptions
    k(830, 20, 4147, 2, 900, 24, 60), // authorization.k8s.io/v1 LocalSubjectAccessReview
    k(830, 20, 4147, 2, 1019, 23, 61), // authorization.k8s.io/v1 SelfSubjectAccessReview
    k(830, 20, 4147, 2, 1199, 22, 61), // authorization.k8s.io/v1 SelfSubjectRulesReview
    k(830, 20, 4147, 2, 905, 19, 60), // authorization.k8s.io/v1 SubjectAccessReview
    k(830, 20, 4147, 2, 3669, 10, 34), // authorization.k8s.io/v1 WatchEvent
    k(830, 20, 4327, 7, 3669, 10, 34), // authorization.k8s.io/v1beta1 WatchEvent
    k(3538, 11, 4560, 2, 3125, 13, 0), // autoscaling/v2 DeleteOptions
    k(3538, 11, 4147, 2, 3125, 13, 0), // autoscaling/v1 DeleteOptions
    k(3538, 11, 4560, 2, 466, 23, 62), // autoscaling/v2 HorizontalPodAutoscaler
    k(3538, 11, 4147, 2, 466, 23, 63), // autoscaling/v1 HorizontalPodAutoscaler
    k(3538, 11, 4560, 2, 466, 27, 64), // autoscaling/v2 HorizontalPodAutoscalerList
    k(3538, 11, 4147, 2, 466, 27, 65), // autoscaling/v1 HorizontalPodAutoscalerList
    k(3538, 11, 4147, 2, 4439, 5, 61), // autoscaling/v1 Scale
    k(3538, 11, 4560, 2, 3669, 10, 34), // autoscaling/v2 WatchEvent
    k(3538, 11, 4147, 2, 3669, 10, 34), // autoscaling/v1 WatchEvent
    k(4459, 5, 4147, 2, 3472, 7, 66), // batch/v1 CronJob
    k(4459, 5, 4147, 2, 3472, 11, 67), // batch/v1 CronJobList
    k(4459, 5, 4147, 2, 3125, 13, 0), // batch/v1 DeleteOptions
    k(4459, 5, 4327, 7, 3125, 13, 0), // batch/v1beta1 DeleteOptions
    k(4459, 5, 4147, 2, 3476, 3, 68), // batch/v1 Job
    k(4459, 5, 4147, 2, 3476, 7, 69), // batch/v1 JobList
    k(4459, 5, 4147, 2, 3669, 10, 34), // batch/v1 WatchEvent
    k(4459, 5, 4327, 7, 3669, 10, 34), // batch/v1beta1 WatchEvent
    k(1584, 19, 4147, 2, 295, 25, 70), // certificates.k8s.io/v1 CertificateSigningRequest
    k(1584, 19, 4147, 2, 295, 29, 71), // certificates.k8s.io/v1 CertificateSigningRequestList
    k(1584, 19, 4147, 2, 1155, 18, 61), // certificates.k8s.io/v1 ClusterTrustBundle
    k(1584, 19, 4327, 7, 1155, 18, 61), // certificates.k8s.io/v1beta1 ClusterTrustBundle
    k(1584, 19, 4147, 2, 1155, 22, 72), // certificates.k8s.io/v1 ClusterTrustBundleList
    k(1584, 19, 4327, 7, 1155, 22, 72), // certificates.k8s.io/v1beta1 ClusterTrustBundleList
    k(1584, 19, 4147, 2, 3125, 13, 0), // certificates.k8s.io/v1 DeleteOptions
    k(1584, 19, 4327, 7, 3125, 13, 0), // certificates.k8s.io/v1beta1 DeleteOptions
    k(1584, 19, 4147, 8, 3125, 13, 0), // certificates.k8s.io/v1alpha1 DeleteOptions
    k(1584, 19, 4147, 2, 650, 21, 73), // certificates.k8s.io/v1 PodCertificateRequest
    k(1584, 19, 4327, 7, 650, 21, 73), // certificates.k8s.io/v1beta1 PodCertificateRequest
    k(1584, 19, 4147, 2, 650, 25, 74), // certificates.k8s.io/v1 PodCertificateRequestList
    k(1584, 19, 4327, 7, 650, 25, 74), // certificates.k8s.io/v1beta1 PodCertificateRequestList
    k(1584, 19, 4147, 2, 3669, 10, 34), // certificates.k8s.io/v1 WatchEvent
    k(1584, 19, 4327, 7, 3669, 10, 34), // certificates.k8s.io/v1beta1 WatchEvent
    k(1584, 19, 4147, 8, 3669, 10, 34), // certificates.k8s.io/v1alpha1 WatchEvent
    k(1603, 19, 4147, 2, 3125, 13, 0), // coordination.k8s.io/v1 DeleteOptions
    k(1603, 19, 4327, 7, 3125, 13, 0), // coordination.k8s.io/v1beta1 DeleteOptions
    k(1603, 19, 4155, 8, 3125, 13, 0), // coordination.k8s.io/v1alpha2 DeleteOptions
    k(1603, 19, 4147, 2, 1679, 5, 61), // coordination.k8s.io/v1 Lease
    k(1603, 19, 4327, 7, 1679, 14, 61), // coordination.k8s.io/v1beta1 LeaseCandidate
    k(1603, 19, 4155, 8, 1679, 14, 61), // coordination.k8s.io/v1alpha2 LeaseCandidate
    k(1603, 19, 4327, 7, 1679, 18, 72), // coordination.k8s.io/v1beta1 LeaseCandidateList
    k(1603, 19, 4155, 8, 1679, 18, 72), // coordination.k8s.io/v1alpha2 LeaseCandidateList
    k(1603, 19, 4147, 2, 3868, 9, 72), // coordination.k8s.io/v1 LeaseList
    k(1603, 19, 4147, 2, 3669, 10, 34), // coordination.k8s.io/v1 WatchEvent
    k(1603, 19, 4327, 7, 3669, 10, 34), // coordination.k8s.io/v1beta1 WatchEvent
    k(1603, 19, 4155, 8, 3669, 10, 34), // coordination.k8s.io/v1alpha2 WatchEvent
    k(2329, 16, 4147, 2, 3125, 13, 0), // discovery.k8s.io/v1 DeleteOptions
    k(2329, 16, 4327, 7, 3125, 13, 0), // discovery.k8s.io/v1beta1 DeleteOptions
    k(2329, 16, 4147, 2, 1877, 13, 75), // discovery.k8s.io/v1 EndpointSlice
    k(2329, 16, 4147, 2, 1877, 17, 76), // discovery.k8s.io/v1 EndpointSliceList
    k(2329, 16, 4147, 2, 3669, 10, 34), // discovery.k8s.io/v1 WatchEvent
    k(2329, 16, 4327, 7, 3669, 10, 34), // discovery.k8s.io/v1beta1 WatchEvent
    k(3203, 13, 4147, 2, 3125, 13, 0), // events.k8s.io/v1 DeleteOptions
    k(3203, 13, 4327, 7, 3125, 13, 0), // events.k8s.io/v1beta1 DeleteOptions
    k(3203, 13, 4147, 2, 3674, 5, 77), // events.k8s.io/v1 Event
    k(3203, 13, 4147, 2, 3859, 9, 78), // events.k8s.io/v1 EventList
    k(3203, 13, 4147, 2, 3669, 10, 34), // events.k8s.io/v1 WatchEvent
    k(3203, 13, 4327, 7, 3669, 10, 34), // events.k8s.io/v1beta1 WatchEvent
    k(1390, 10, 4327, 7, 3125, 13, 0), // extensions/v1beta1 DeleteOptions
    k(1390, 10, 4327, 7, 3669, 10, 34), // extensions/v1beta1 WatchEvent
    k(438, 28, 4147, 2, 3125, 13, 0), // flowcontrol.apiserver.k8s.io/v1 DeleteOptions
    k(438, 28, 4341, 7, 3125, 13, 0), // flowcontrol.apiserver.k8s.io/v1beta3 DeleteOptions
    k(438, 28, 4334, 7, 3125, 13, 0), // flowcontrol.apiserver.k8s.io/v1beta2 DeleteOptions
    k(438, 28, 4327, 7, 3125, 13, 0), // flowcontrol.apiserver.k8s.io/v1beta1 DeleteOptions
    k(438, 28, 4147, 2, 2834, 10, 79), // flowcontrol.apiserver.k8s.io/v1 FlowSchema
    k(438, 28, 4147, 2, 2834, 14, 80), // flowcontrol.apiserver.k8s.io/v1 FlowSchemaList
    k(438, 28, 4147, 2, 265, 26, 12), // flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration
    k(438, 28, 4147, 2, 265, 30, 13), // flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfigurationList
    k(438, 28, 4147, 2, 3669, 10, 34), // flowcontrol.apiserver.k8s.io/v1 WatchEvent
    k(438, 28, 4341, 7, 3669, 10, 34), // flowcontrol.apiserver.k8s.io/v1beta3 WatchEvent
    k(438, 28, 4334, 7, 3669, 10, 34), // flowcontrol.apiserver.k8s.io/v1beta2 WatchEvent
    k(438, 28, 4327, 7, 3669, 10, 34), // flowcontrol.apiserver.k8s.io/v1beta1 WatchEvent
    k(1805, 18, 4147, 8, 3125, 13, 0), // imagepolicy.k8s.io/v1alpha1 DeleteOptions
    k(1805, 18, 4147, 8, 3669, 10, 34), // imagepolicy.k8s.io/v1alpha1 WatchEvent
    k(800, 25, 4147, 8, 3125, 13, 0), // internal.apiserver.k8s.io/v1alpha1 DeleteOptions
    k(800, 25, 4147, 8, 520, 14, 81), // internal.apiserver.k8s.io/v1alpha1 StorageVersion
    k(800, 25, 4147, 8, 1715, 18, 82), // internal.apiserver.k8s.io/v1alpha1 StorageVersionList
    k(800, 25, 4147, 8, 3669, 10, 34), // internal.apiserver.k8s.io/v1alpha1 WatchEvent
    k(2393, 16, 4147, 8, 3125, 13, 0), // lifecycle.k8s.io/v1alpha1 DeleteOptions
    k(2393, 16, 4147, 8, 1565, 8, 83), // lifecycle.k8s.io/v1alpha1 Eviction
    k(2393, 16, 4147, 8, 3306, 12, 84), // lifecycle.k8s.io/v1alpha1 EvictionList
    k(2393, 16, 4147, 8, 1565, 15, 12), // lifecycle.k8s.io/v1alpha1 EvictionRequest
    k(2393, 16, 4147, 8, 1565, 19, 13), // lifecycle.k8s.io/v1alpha1 EvictionRequestList
    k(2393, 16, 4147, 8, 3669, 10, 34), // lifecycle.k8s.io/v1alpha1 WatchEvent
    k(2064, 17, 4147, 2, 3125, 13, 0), // networking.k8s.io/v1 DeleteOptions
    k(2064, 17, 4327, 7, 3125, 13, 0), // networking.k8s.io/v1beta1 DeleteOptions
    k(2064, 17, 4147, 2, 3151, 9, 61), // networking.k8s.io/v1 IPAddress
    k(2064, 17, 4147, 2, 3151, 13, 72), // networking.k8s.io/v1 IPAddressList
    k(2064, 17, 4147, 2, 2217, 7, 85), // networking.k8s.io/v1 Ingress
    k(2064, 17, 4147, 2, 2217, 12, 61), // networking.k8s.io/v1 IngressClass
    k(2064, 17, 4147, 2, 2217, 16, 72), // networking.k8s.io/v1 IngressClassList
    k(2064, 17, 4147, 2, 3483, 11, 86), // networking.k8s.io/v1 IngressList
    k(2064, 17, 4147, 2, 1894, 13, 87), // networking.k8s.io/v1 NetworkPolicy
    k(2064, 17, 4147, 2, 1894, 17, 88), // networking.k8s.io/v1 NetworkPolicyList
    k(2064, 17, 4147, 2, 2581, 11, 12), // networking.k8s.io/v1 ServiceCIDR
    k(2064, 17, 4147, 2, 2581, 15, 13), // networking.k8s.io/v1 ServiceCIDRList
    k(2064, 17, 4147, 2, 3669, 10, 34), // networking.k8s.io/v1 WatchEvent
    k(2064, 17, 4327, 7, 3669, 10, 34), // networking.k8s.io/v1beta1 WatchEvent
    k(3604, 11, 4147, 2, 3125, 13, 0), // node.k8s.io/v1 DeleteOptions
    k(3604, 11, 4327, 7, 3125, 13, 0), // node.k8s.io/v1beta1 DeleteOptions
    k(3604, 11, 4147, 8, 3125, 13, 0), // node.k8s.io/v1alpha1 DeleteOptions
    k(3604, 11, 4147, 2, 2233, 12, 89), // node.k8s.io/v1 RuntimeClass
    k(3604, 11, 4147, 2, 2233, 16, 90), // node.k8s.io/v1 RuntimeClassList
    k(3604, 11, 4147, 2, 3669, 10, 34), // node.k8s.io/v1 WatchEvent
    k(3604, 11, 4327, 7, 3669, 10, 34), // node.k8s.io/v1beta1 WatchEvent
    k(3604, 11, 4147, 8, 3669, 10, 34), // node.k8s.io/v1alpha1 WatchEvent
    k(1810, 6, 4147, 2, 3125, 13, 0), // policy/v1 DeleteOptions
    k(1810, 6, 4327, 7, 3125, 13, 0), // policy/v1beta1 DeleteOptions
    k(1810, 6, 4147, 2, 1565, 8, 61), // policy/v1 Eviction
    k(1810, 6, 4147, 2, 996, 19, 91), // policy/v1 PodDisruptionBudget
    k(1810, 6, 4147, 2, 996, 23, 92), // policy/v1 PodDisruptionBudgetList
    k(1810, 6, 4147, 2, 3669, 10, 34), // policy/v1 WatchEvent
    k(1810, 6, 4327, 7, 3669, 10, 34), // policy/v1beta1 WatchEvent
    k(825, 25, 4147, 2, 1133, 11, 93), // rbac.authorization.k8s.io/v1 ClusterRole
    k(825, 25, 4147, 2, 1133, 18, 94), // rbac.authorization.k8s.io/v1 ClusterRoleBinding
    k(825, 25, 4147, 2, 1133, 22, 95), // rbac.authorization.k8s.io/v1 ClusterRoleBindingList
    k(825, 25, 4147, 2, 2536, 15, 96), // rbac.authorization.k8s.io/v1 ClusterRoleList
    k(825, 25, 4147, 2, 3125, 13, 0), // rbac.authorization.k8s.io/v1 DeleteOptions
    k(825, 25, 4327, 7, 3125, 13, 0), // rbac.authorization.k8s.io/v1beta1 DeleteOptions
    k(825, 25, 4147, 8, 3125, 13, 0), // rbac.authorization.k8s.io/v1alpha1 DeleteOptions
    k(825, 25, 4147, 2, 1140, 4, 61), // rbac.authorization.k8s.io/v1 Role
    k(825, 25, 4147, 2, 1140, 11, 94), // rbac.authorization.k8s.io/v1 RoleBinding
    k(825, 25, 4147, 2, 1140, 15, 95), // rbac.authorization.k8s.io/v1 RoleBindingList
    k(825, 25, 4147, 2, 2543, 8, 72), // rbac.authorization.k8s.io/v1 RoleList
    k(825, 25, 4147, 2, 3669, 10, 34), // rbac.authorization.k8s.io/v1 WatchEvent
    k(825, 25, 4327, 7, 3669, 10, 34), // rbac.authorization.k8s.io/v1beta1 WatchEvent
    k(825, 25, 4147, 8, 3669, 10, 34), // rbac.authorization.k8s.io/v1alpha1 WatchEvent
    k(2746, 15, 4147, 2, 3125, 13, 0), // resource.k8s.io/v1 DeleteOptions
    k(2746, 15, 4334, 7, 3125, 13, 0), // resource.k8s.io/v1beta2 DeleteOptions
    k(2746, 15, 4327, 7, 3125, 13, 0), // resource.k8s.io/v1beta1 DeleteOptions
    k(2746, 15, 4163, 8, 3125, 13, 0), // resource.k8s.io/v1alpha3 DeleteOptions
    k(2746, 15, 4147, 2, 2551, 11, 97), // resource.k8s.io/v1 DeviceClass
    k(2746, 15, 4334, 7, 2551, 11, 97), // resource.k8s.io/v1beta2 DeviceClass
    k(2746, 15, 4327, 7, 2551, 11, 97), // resource.k8s.io/v1beta1 DeviceClass
    k(2746, 15, 4147, 2, 2551, 15, 98), // resource.k8s.io/v1 DeviceClassList
    k(2746, 15, 4334, 7, 2551, 15, 98), // resource.k8s.io/v1beta2 DeviceClassList
    k(2746, 15, 4327, 7, 2551, 15, 98), // resource.k8s.io/v1beta1 DeviceClassList
    k(2746, 15, 4147, 2, 1546, 15, 12), // resource.k8s.io/v1 DeviceTaintRule
    k(2746, 15, 4334, 7, 1546, 15, 12), // resource.k8s.io/v1beta2 DeviceTaintRule
    k(2746, 15, 4163, 8, 1546, 15, 12), // resource.k8s.io/v1alpha3 DeviceTaintRule
    k(2746, 15, 4147, 2, 1546, 19, 13), // resource.k8s.io/v1 DeviceTaintRuleList
    k(2746, 15, 4334, 7, 1546, 19, 13), // resource.k8s.io/v1beta2 DeviceTaintRuleList
    k(2746, 15, 4163, 8, 1546, 19, 13), // resource.k8s.io/v1alpha3 DeviceTaintRuleList
    k(2746, 15, 4147, 2, 144, 13, 99), // resource.k8s.io/v1 ResourceClaim
    k(2746, 15, 4334, 7, 144, 13, 99), // resource.k8s.io/v1beta2 ResourceClaim
    k(2746, 15, 4327, 7, 144, 13, 100), // resource.k8s.io/v1beta1 ResourceClaim
    k(2746, 15, 4147, 2, 1928, 17, 101), // resource.k8s.io/v1 ResourceClaimList
    k(2746, 15, 4334, 7, 1928, 17, 101), // resource.k8s.io/v1beta2 ResourceClaimList
    k(2746, 15, 4327, 7, 1928, 17, 102), // resource.k8s.io/v1beta1 ResourceClaimList
    k(2746, 15, 4147, 2, 700, 21, 103), // resource.k8s.io/v1 ResourceClaimTemplate
    k(2746, 15, 4334, 7, 700, 21, 103), // resource.k8s.io/v1beta2 ResourceClaimTemplate
    k(2746, 15, 4327, 7, 700, 21, 104), // resource.k8s.io/v1beta1 ResourceClaimTemplate
    k(2746, 15, 4147, 2, 700, 25, 105), // resource.k8s.io/v1 ResourceClaimTemplateList
    k(2746, 15, 4334, 7, 700, 25, 105), // resource.k8s.io/v1beta2 ResourceClaimTemplateList
    k(2746, 15, 4327, 7, 700, 25, 106), // resource.k8s.io/v1beta1 ResourceClaimTemplateList
    k(2746, 15, 4163, 8, 324, 25, 12), // resource.k8s.io/v1alpha3 ResourcePoolStatusRequest
    k(2746, 15, 4163, 8, 324, 29, 13), // resource.k8s.io/v1alpha3 ResourcePoolStatusRequestList
    k(2746, 15, 4147, 2, 1962, 13, 107), // resource.k8s.io/v1 ResourceSlice
    k(2746, 15, 4334, 7, 1962, 13, 107), // resource.k8s.io/v1beta2 ResourceSlice
    k(2746, 15, 4327, 7, 1962, 13, 108), // resource.k8s.io/v1beta1 ResourceSlice
    k(2746, 15, 4147, 2, 1962, 17, 109), // resource.k8s.io/v1 ResourceSliceList
    k(2746, 15, 4334, 7, 1962, 17, 109), // resource.k8s.io/v1beta2 ResourceSliceList
    k(2746, 15, 4327, 7, 1962, 17, 110), // resource.k8s.io/v1beta1 ResourceSliceList
    k(2746, 15, 4147, 2, 3669, 10, 34), // resource.k8s.io/v1 WatchEvent
    k(2746, 15, 4334, 7, 3669, 10, 34), // resource.k8s.io/v1beta2 WatchEvent
    k(2746, 15, 4327, 7, 3669, 10, 34), // resource.k8s.io/v1beta1 WatchEvent
    k(2746, 15, 4163, 8, 3669, 10, 34), // resource.k8s.io/v1alpha3 WatchEvent
    k(2166, 17, 4163, 8, 1243, 17, 111), // scheduling.k8s.io/v1alpha3 CompositePodGroup
    k(2166, 17, 4163, 8, 1243, 21, 112), // scheduling.k8s.io/v1alpha3 CompositePodGroupList
    k(2166, 17, 4147, 2, 3125, 13, 0), // scheduling.k8s.io/v1 DeleteOptions
    k(2166, 17, 4327, 7, 3125, 13, 0), // scheduling.k8s.io/v1beta1 DeleteOptions
    k(2166, 17, 4163, 8, 3125, 13, 0), // scheduling.k8s.io/v1alpha3 DeleteOptions
    k(2166, 17, 4327, 7, 556, 8, 113), // scheduling.k8s.io/v1beta1 PodGroup
    k(2166, 17, 4163, 8, 556, 8, 113), // scheduling.k8s.io/v1alpha3 PodGroup
    k(2166, 17, 4327, 7, 1252, 12, 114), // scheduling.k8s.io/v1beta1 PodGroupList
    k(2166, 17, 4163, 8, 1252, 12, 114), // scheduling.k8s.io/v1alpha3 PodGroupList
    k(2166, 17, 4147, 2, 1911, 13, 61), // scheduling.k8s.io/v1 PriorityClass
    k(2166, 17, 4147, 2, 1911, 17, 72), // scheduling.k8s.io/v1 PriorityClassList
    k(2166, 17, 4147, 2, 3669, 10, 34), // scheduling.k8s.io/v1 WatchEvent
    k(2166, 17, 4327, 7, 3669, 10, 34), // scheduling.k8s.io/v1beta1 WatchEvent
    k(2166, 17, 4163, 8, 3669, 10, 34), // scheduling.k8s.io/v1alpha3 WatchEvent
    k(2166, 17, 4327, 7, 3330, 8, 115), // scheduling.k8s.io/v1beta1 Workload
    k(2166, 17, 4163, 8, 3330, 8, 115), // scheduling.k8s.io/v1alpha3 Workload
    k(2166, 17, 4327, 7, 3330, 12, 116), // scheduling.k8s.io/v1beta1 WorkloadList
    k(2166, 17, 4163, 8, 3330, 12, 116), // scheduling.k8s.io/v1alpha3 WorkloadList
    k(3072, 14, 4147, 2, 3086, 9, 117), // storage.k8s.io/v1 CSIDriver
    k(3072, 14, 4147, 2, 3086, 13, 118), // storage.k8s.io/v1 CSIDriverList
    k(3072, 14, 4147, 2, 3461, 7, 119), // storage.k8s.io/v1 CSINode
    k(3072, 14, 4147, 2, 3461, 11, 120), // storage.k8s.io/v1 CSINodeList
    k(3072, 14, 4147, 2, 1111, 18, 121), // storage.k8s.io/v1 CSIStorageCapacity
    k(3072, 14, 4147, 2, 1111, 22, 122), // storage.k8s.io/v1 CSIStorageCapacityList
    k(3072, 14, 4147, 2, 3125, 13, 0), // storage.k8s.io/v1 DeleteOptions
    k(3072, 14, 4327, 7, 3125, 13, 0), // storage.k8s.io/v1beta1 DeleteOptions
    k(3072, 14, 4147, 8, 3125, 13, 0), // storage.k8s.io/v1alpha1 DeleteOptions
    k(3072, 14, 4147, 2, 2249, 12, 123), // storage.k8s.io/v1 StorageClass
    k(3072, 14, 4147, 2, 2249, 16, 124), // storage.k8s.io/v1 StorageClassList
    k(3072, 14, 4147, 2, 1347, 16, 125), // storage.k8s.io/v1 VolumeAttachment
    k(3072, 14, 4147, 2, 1347, 20, 126), // storage.k8s.io/v1 VolumeAttachmentList
    k(3072, 14, 4147, 2, 725, 21, 127), // storage.k8s.io/v1 VolumeAttributesClass
    k(3072, 14, 4147, 2, 725, 25, 128), // storage.k8s.io/v1 VolumeAttributesClassList
    k(3072, 14, 4147, 2, 3669, 10, 34), // storage.k8s.io/v1 WatchEvent
    k(3072, 14, 4327, 7, 3669, 10, 34), // storage.k8s.io/v1beta1 WatchEvent
    k(3072, 14, 4147, 8, 3669, 10, 34), // storage.k8s.io/v1alpha1 WatchEvent
    k(1065, 23, 4147, 2, 3125, 13, 0), // storagemigration.k8s.io/v1 DeleteOptions
    k(1065, 23, 4327, 7, 3125, 13, 0), // storagemigration.k8s.io/v1beta1 DeleteOptions
    k(1065, 23, 4147, 2, 520, 23, 12), // storagemigration.k8s.io/v1 StorageVersionMigration
    k(1065, 23, 4327, 7, 520, 23, 12), // storagemigration.k8s.io/v1beta1 StorageVersionMigration
    k(1065, 23, 4147, 2, 520, 27, 13), // storagemigration.k8s.io/v1 StorageVersionMigrationList
    k(1065, 23, 4327, 7, 520, 27, 13), // storagemigration.k8s.io/v1beta1 StorageVersionMigrationList
    k(1065, 23, 4147, 2, 3669, 10, 34), // storagemigration.k8s.io/v1 WatchEvent
    k(1065, 23, 4327, 7, 3669, 10, 34), // storagemigration.k8s.io/v1beta1 WatchEvent
];

static TYPES: [Type; 416] = [
    Type { ..Type::LEAF }, // 0: a scalar
    Type { fields: r(0, 2), ..Type::LEAF }, // 1: Binding
    Type { fields: r(2, 2), ..Type::LEAF }, // 2: ComponentStatus
    Type { fields: r(4, 1), ..Type::LEAF }, // 3: ComponentStatusList
    Type { fields: r(5, 3), ..Type::LEAF }, // 4: ConfigMap
    Type { fields: r(8, 1), ..Type::LEAF }, // 5: ConfigMapList
    Type { fields: r(9, 2), ..Type::LEAF }, // 6: Endpoints
    Type { fields: r(11, 1), ..Type::LEAF }, // 7: EndpointsList
    Type { fields: r(12, 3), ..Type::LEAF }, // 8: Event
    Type { fields: r(15, 1), ..Type::LEAF }, // 9: EventList
    Type { fields: r(16, 2), ..Type::LEAF }, // 10: LimitRange
    Type { fields: r(18, 1), ..Type::LEAF }, // 11: LimitRangeList
    Type { fields: r(19, 2), ..Type::LEAF }, // 12: Namespace
    Type { fields: r(21, 1), ..Type::LEAF }, // 13: NamespaceList
    Type { fields: r(22, 3), ..Type::LEAF }, // 14: Node
    Type { fields: r(25, 1), ..Type::LEAF }, // 15: NodeList
    Type { fields: r(26, 2), ..Type::LEAF }, // 16: PersistentVolume
    Type { fields: r(28, 3), ..Type::LEAF }, // 17: PersistentVolumeClaim
    Type { fields: r(31, 1), ..Type::LEAF }, // 18: PersistentVolumeClaimList
    Type { fields: r(32, 1), ..Type::LEAF }, // 19: PersistentVolumeList
    Type { fields: r(33, 3), ..Type::LEAF }, // 20: Pod
    Type { fields: r(36, 1), ..Type::LEAF }, // 21: PodList
    Type { fields: r(37, 2), ..Type::LEAF }, // 22: PodTemplate
    Type { fields: r(39, 1), ..Type::LEAF }, // 23: PodTemplateList
    Type { fields: r(40, 3), ..Type::LEAF }, // 24: ReplicationController
    Type { fields: r(43, 1), ..Type::LEAF }, // 25: ReplicationControllerList
    Type { fields: r(44, 3), ..Type::LEAF }, // 26: ResourceQuota
    Type { fields: r(47, 1), ..Type::LEAF }, // 27: ResourceQuotaList
    Type { fields: r(48, 3), ..Type::LEAF }, // 28: Secret
    Type { fields: r(51, 1), ..Type::LEAF }, // 29: SecretList
    Type { fields: r(52, 3), ..Type::LEAF }, // 30: Service
    Type { fields: r(55, 3), ..Type::LEAF }, // 31: ServiceAccount
    Type { fields: r(58, 1), ..Type::LEAF }, // 32: ServiceAccountList
    Type { fields: r(59, 1), ..Type::LEAF }, // 33: ServiceList
    Type { fields: r(60, 1), ..Type::LEAF }, // 34: WatchEvent
    Type { fields: r(61, 2), ..Type::LEAF }, // 35: MutatingAdmissionPolicy
    Type { fields: r(63, 2), ..Type::LEAF }, // 36: MutatingAdmissionPolicy
    Type { fields: r(65, 2), ..Type::LEAF }, // 37: MutatingAdmissionPolicyBinding
    Type { fields: r(67, 1), ..Type::LEAF }, // 38: MutatingAdmissionPolicyBindingList
    Type { fields: r(68, 1), ..Type::LEAF }, // 39: MutatingAdmissionPolicyList
    Type { fields: r(69, 1), ..Type::LEAF }, // 40: MutatingAdmissionPolicyList
    Type { fields: r(70, 2), ..Type::LEAF }, // 41: MutatingWebhookConfiguration
    Type { fields: r(72, 1), ..Type::LEAF }, // 42: MutatingWebhookConfigurationList
    Type { fields: r(73, 3), ..Type::LEAF }, // 43: ValidatingAdmissionPolicy
    Type { fields: r(76, 2), ..Type::LEAF }, // 44: ValidatingAdmissionPolicyBinding
    Type { fields: r(78, 1), ..Type::LEAF }, // 45: ValidatingAdmissionPolicyBindingList
    Type { fields: r(79, 1), ..Type::LEAF }, // 46: ValidatingAdmissionPolicyList
    Type { fields: r(80, 3), ..Type::LEAF }, // 47: CustomResourceDefinition
    Type { fields: r(83, 1), ..Type::LEAF }, // 48: CustomResourceDefinitionList
    Type { fields: r(84, 2), ..Type::LEAF }, // 49: ControllerRevision
    Type { fields: r(86, 1), ..Type::LEAF }, // 50: ControllerRevisionList
    Type { fields: r(87, 3), ..Type::LEAF }, // 51: DaemonSet
    Type { fields: r(90, 1), ..Type::LEAF }, // 52: DaemonSetList
    Type { fields: r(91, 3), ..Type::LEAF }, // 53: Deployment
    Type { fields: r(94, 1), ..Type::LEAF }, // 54: DeploymentList
    Type { fields: r(95, 3), ..Type::LEAF }, // 55: StatefulSet
    Type { fields: r(98, 1), ..Type::LEAF }, // 56: StatefulSetList
    Type { fields: r(99, 2), ..Type::LEAF }, // 57: SelfSubjectReview
    Type { fields: r(101, 2), ..Type::LEAF }, // 58: TokenRequest
    Type { fields: r(103, 2), ..Type::LEAF }, // 59: TokenReview
    Type { fields: r(105, 2), ..Type::LEAF }, // 60: LocalSubjectAccessReview
    Type { fields: r(107, 1), ..Type::LEAF }, // 61: SelfSubjectAccessReview
    Type { fields: r(108, 3), ..Type::LEAF }, // 62: HorizontalPodAutoscaler
    Type { fields: r(111, 2), ..Type::LEAF }, // 63: HorizontalPodAutoscaler
    Type { fields: r(113, 1), ..Type::LEAF }, // 64: HorizontalPodAutoscalerList
    Type { fields: r(114, 1), ..Type::LEAF }, // 65: HorizontalPodAutoscalerList
    Type { fields: r(115, 3), ..Type::LEAF }, // 66: CronJob
    Type { fields: r(118, 1), ..Type::LEAF }, // 67: CronJobList
    Type { fields: r(119, 3), ..Type::LEAF }, // 68: Job
    Type { fields: r(122, 1), ..Type::LEAF }, // 69: JobList
    Type { fields: r(123, 3), ..Type::LEAF }, // 70: CertificateSigningRequest
    Type { fields: r(126, 1), ..Type::LEAF }, // 71: CertificateSigningRequestList
    Type { fields: r(127, 1), ..Type::LEAF }, // 72: ClusterTrustBundleList
    Type { fields: r(128, 3), ..Type::LEAF }, // 73: PodCertificateRequest
    Type { fields: r(131, 1), ..Type::LEAF }, // 74: PodCertificateRequestList
    Type { fields: r(132, 3), ..Type::LEAF }, // 75: EndpointSlice
    Type { fields: r(135, 1), ..Type::LEAF }, // 76: EndpointSliceList
    Type { fields: r(136, 3), ..Type::LEAF }, // 77: Event
    Type { fields: r(139, 1), ..Type::LEAF }, // 78: EventList
    Type { fields: r(140, 3), ..Type::LEAF }, // 79: FlowSchema
    Type { fields: r(143, 1), ..Type::LEAF }, // 80: FlowSchemaList
    Type { fields: r(144, 3), ..Type::LEAF }, // 81: StorageVersion
    Type { fields: r(147, 1), ..Type::LEAF }, // 82: StorageVersionList
    Type { fields: r(148, 2), ..Type::LEAF }, // 83: Eviction
    Type { fields: r(150, 1), ..Type::LEAF }, // 84: EvictionList
    Type { fields: r(151, 2), ..Type::LEAF }, // 85: Ingress
    Type { fields: r(153, 1), ..Type::LEAF }, // 86: IngressList
    Type { fields: r(154, 2), ..Type::LEAF }, // 87: NetworkPolicy
    Type { fields: r(156, 1), ..Type::LEAF }, // 88: NetworkPolicyList
    Type { fields: r(157, 3), ..Type::LEAF }, // 89: RuntimeClass
    Type { fields: r(160, 1), ..Type::LEAF }, // 90: RuntimeClassList
    Type { fields: r(161, 3), ..Type::LEAF }, // 91: PodDisruptionBudget
    Type { fields: r(164, 1), ..Type::LEAF }, // 92: PodDisruptionBudgetList
    Type { fields: r(165, 2), ..Type::LEAF }, // 93: ClusterRole
    Type { fields: r(167, 3), ..Type::LEAF }, // 94: ClusterRoleBinding
    Type { fields: r(170, 1), ..Type::LEAF }, // 95: ClusterRoleBindingList
    Type { fields: r(171, 1), ..Type::LEAF }, // 96: ClusterRoleList
    Type { fields: r(172, 2), ..Type::LEAF }, // 97: DeviceClass
    Type { fields: r(174, 1), ..Type::LEAF }, // 98: DeviceClassList
    Type { fields: r(175, 3), ..Type::LEAF }, // 99: ResourceClaim
    Type { fields: r(178, 3), ..Type::LEAF }, // 100: ResourceClaim
    Type { fields: r(181, 1), ..Type::LEAF }, // 101: ResourceClaimList
    Type { fields: r(182, 1), ..Type::LEAF }, // 102: ResourceClaimList
    Type { fields: r(183, 2), ..Type::LEAF }, // 103: ResourceClaimTemplate
    Type { fields: r(185, 2), ..Type::LEAF }, // 104: ResourceClaimTemplate
    Type { fields: r(187, 1), ..Type::LEAF }, // 105: ResourceClaimTemplateList
    Type { fields: r(188, 1), ..Type::LEAF }, // 106: ResourceClaimTemplateList
    Type { fields: r(189, 2), ..Type::LEAF }, // 107: ResourceSlice
    Type { fields: r(191, 2), ..Type::LEAF }, // 108: ResourceSlice
    Type { fields: r(193, 1), ..Type::LEAF }, // 109: ResourceSliceList
    Type { fields: r(194, 1), ..Type::LEAF }, // 110: ResourceSliceList
    Type { fields: r(195, 3), ..Type::LEAF }, // 111: CompositePodGroup
    Type { fields: r(198, 1), ..Type::LEAF }, // 112: CompositePodGroupList
    Type { fields: r(199, 3), ..Type::LEAF }, // 113: PodGroup
    Type { fields: r(202, 1), ..Type::LEAF }, // 114: PodGroupList
    Type { fields: r(203, 2), ..Type::LEAF }, // 115: Workload
    Type { fields: r(205, 1), ..Type::LEAF }, // 116: WorkloadList
    Type { fields: r(206, 2), ..Type::LEAF }, // 117: CSIDriver
    Type { fields: r(208, 1), ..Type::LEAF }, // 118: CSIDriverList
    Type { fields: r(209, 3), ..Type::LEAF }, // 119: CSINode
    Type { fields: r(212, 1), ..Type::LEAF }, // 120: CSINodeList
    Type { fields: r(213, 2), ..Type::LEAF }, // 121: CSIStorageCapacity
    Type { fields: r(215, 1), ..Type::LEAF }, // 122: CSIStorageCapacityList
    Type { fields: r(216, 3), ..Type::LEAF }, // 123: StorageClass
    Type { fields: r(219, 1), ..Type::LEAF }, // 124: StorageClassList
    Type { fields: r(220, 3), ..Type::LEAF }, // 125: VolumeAttachment
    Type { fields: r(223, 1), ..Type::LEAF }, // 126: VolumeAttachmentList
    Type { fields: r(224, 2), ..Type::LEAF }, // 127: VolumeAttributesClass
    Type { fields: r(226, 1), ..Type::LEAF }, // 128: VolumeAttributesClassList
    Type { fields: r(227, 5), ..Type::LEAF }, // 129: Binding.metadata
    Type { map: MapType::Atomic, ..Type::LEAF }, // 130: Binding.target
    Type { list: ListRelation::Map, keys: r(20, 1), strategy: s(true, false, false), merge_key: r(4540, 4), ..Type::LEAF }, // 131: ComponentStatus.conditions
    Type { items: 2, ..Type::LEAF }, // 132: ComponentStatusList.items
    Type { values: 0, open: true, ..Type::LEAF }, // 133: ConfigMap.binaryData
    Type { items: 4, ..Type::LEAF }, // 134: ConfigMapList.items
    Type { items: 267, ..Type::LEAF }, // 135: Endpoints.subsets
    Type { items: 6, ..Type::LEAF }, // 136: EndpointsList.items
    Type { items: 8, ..Type::LEAF }, // 137: EventList.items
    Type { fields: r(232, 1), ..Type::LEAF }, // 138: LimitRange.spec
    Type { items: 10, ..Type::LEAF }, // 139: LimitRangeList.items
    Type { fields: r(233, 1), ..Type::LEAF }, // 140: Namespace.status
    Type { items: 12, ..Type::LEAF }, // 141: NamespaceList.items
    Type { fields: r(234, 2), ..Type::LEAF }, // 142: Node.spec
    Type { fields: r(236, 4), ..Type::LEAF }, // 143: Node.status
    Type { items: 14, ..Type::LEAF }, // 144: NodeList.items
    Type { fields: r(240, 10), ..Type::LEAF }, // 145: PersistentVolume.spec
    Type { fields: r(250, 3), ..Type::LEAF }, // 146: PersistentVolumeClaim.spec
    Type { fields: r(253, 5), ..Type::LEAF }, // 147: PersistentVolumeClaim.status
    Type { items: 17, ..Type::LEAF }, // 148: PersistentVolumeClaimList.items
    Type { items: 16, ..Type::LEAF }, // 149: PersistentVolumeList.items
    Type { fields: r(258, 14), ..Type::LEAF }, // 150: Pod.spec
    Type { fields: r(272, 11), ..Type::LEAF }, // 151: Pod.status
    Type { items: 20, ..Type::LEAF }, // 152: PodList.items
    Type { fields: r(283, 2), ..Type::LEAF }, // 153: PodTemplate.template
    Type { items: 22, ..Type::LEAF }, // 154: PodTemplateList.items
    Type { fields: r(285, 2), ..Type::LEAF }, // 155: ReplicationController.spec
    Type { items: 24, ..Type::LEAF }, // 156: ReplicationControllerList.items
    Type { fields: r(287, 2), ..Type::LEAF }, // 157: ResourceQuota.spec
    Type { fields: r(289, 2), ..Type::LEAF }, // 158: ResourceQuota.status
    Type { items: 26, ..Type::LEAF }, // 159: ResourceQuotaList.items
    Type { items: 28, ..Type::LEAF }, // 160: SecretList.items
    Type { fields: r(291, 2), ..Type::LEAF }, // 161: Service.spec
    Type { items: 130, ..Type::LEAF }, // 162: ServiceAccount.imagePullSecrets
    Type { items: 130, list: ListRelation::Map, keys: r(10, 1), strategy: s(true, false, false), merge_key: r(2047, 4), ..Type::LEAF }, // 163: ServiceAccount.secrets
    Type { items: 31, ..Type::LEAF }, // 164: ServiceAccountList.items
    Type { items: 30, ..Type::LEAF }, // 165: ServiceList.items
    Type { open: true, ..Type::LEAF }, // 166: WatchEvent.object
    Type { fields: r(293, 4), ..Type::LEAF }, // 167: MutatingAdmissionPolicy.spec
    Type { fields: r(297, 3), ..Type::LEAF }, // 168: MutatingAdmissionPolicy.spec
    Type { fields: r(300, 2), ..Type::LEAF }, // 169: MutatingAdmissionPolicyBinding.spec
    Type { items: 37, ..Type::LEAF }, // 170: MutatingAdmissionPolicyBindingList.items
    Type { items: 35, ..Type::LEAF }, // 171: MutatingAdmissionPolicyList.items
    Type { items: 36, ..Type::LEAF }, // 172: MutatingAdmissionPolicyList.items
    Type { items: 292, list: ListRelation::Map, keys: r(10, 1), strategy: s(true, false, false), merge_key: r(2047, 4), ..Type::LEAF }, // 173: MutatingWebhookConfiguration.webhooks
    Type { items: 41, ..Type::LEAF }, // 174: MutatingWebhookConfigurationList.items
    Type { fields: r(302, 4), ..Type::LEAF }, // 175: ValidatingAdmissionPolicy.spec
    Type { fields: r(306, 1), ..Type::LEAF }, // 176: ValidatingAdmissionPolicy.status
    Type { fields: r(307, 3), ..Type::LEAF }, // 177: ValidatingAdmissionPolicyBinding.spec
    Type { items: 44, ..Type::LEAF }, // 178: ValidatingAdmissionPolicyBindingList.items
    Type { items: 43, ..Type::LEAF }, // 179: ValidatingAdmissionPolicyList.items
    Type { fields: r(310, 1), ..Type::LEAF }, // 180: CustomResourceDefinition.spec
    Type { items: 47, ..Type::LEAF }, // 181: CustomResourceDefinitionList.items
    Type { items: 49, ..Type::LEAF }, // 182: ControllerRevisionList.items
    Type { fields: r(311, 2), ..Type::LEAF }, // 183: DaemonSet.spec
    Type { items: 51, ..Type::LEAF }, // 184: DaemonSetList.items
    Type { fields: r(313, 3), ..Type::LEAF }, // 185: Deployment.spec
    Type { items: 53, ..Type::LEAF }, // 186: DeploymentList.items
    Type { fields: r(316, 3), ..Type::LEAF }, // 187: StatefulSet.spec
    Type { items: 55, ..Type::LEAF }, // 188: StatefulSetList.items
    Type { fields: r(319, 1), ..Type::LEAF }, // 189: SelfSubjectReview.status
    Type { fields: r(320, 1), ..Type::LEAF }, // 190: TokenRequest.spec
    Type { fields: r(321, 1), ..Type::LEAF }, // 191: TokenReview.status
    Type { fields: r(322, 1), ..Type::LEAF }, // 192: LocalSubjectAccessReview.spec
    Type { fields: r(323, 1), ..Type::LEAF }, // 193: HorizontalPodAutoscaler.spec
    Type { fields: r(324, 2), ..Type::LEAF }, // 194: HorizontalPodAutoscaler.status
    Type { fields: r(326, 1), ..Type::LEAF }, // 195: HorizontalPodAutoscaler.spec
    Type { items: 62, ..Type::LEAF }, // 196: HorizontalPodAutoscalerList.items
    Type { items: 63, ..Type::LEAF }, // 197: HorizontalPodAutoscalerList.items
    Type { fields: r(327, 1), ..Type::LEAF }, // 198: CronJob.spec
    Type { fields: r(328, 1), ..Type::LEAF }, // 199: CronJob.status
    Type { items: 66, ..Type::LEAF }, // 200: CronJobList.items
    Type { fields: r(329, 4), ..Type::LEAF }, // 201: Job.spec
    Type { fields: r(333, 2), ..Type::LEAF }, // 202: Job.status
    Type { items: 68, ..Type::LEAF }, // 203: JobList.items
    Type { items: 70, ..Type::LEAF }, // 204: CertificateSigningRequestList.items
    Type { items: 61, ..Type::LEAF }, // 205: ClusterTrustBundleList.items
    Type { fields: r(335, 1), ..Type::LEAF }, // 206: PodCertificateRequest.spec
    Type { items: 73, ..Type::LEAF }, // 207: PodCertificateRequestList.items
    Type { items: 303, ..Type::LEAF }, // 208: EndpointSlice.endpoints
    Type { items: 75, ..Type::LEAF }, // 209: EndpointSliceList.items
    Type { items: 77, ..Type::LEAF }, // 210: EventList.items
    Type { fields: r(336, 1), ..Type::LEAF }, // 211: FlowSchema.spec
    Type { items: 79, ..Type::LEAF }, // 212: FlowSchemaList.items
    Type { fields: r(337, 2), ..Type::LEAF }, // 213: StorageVersion.status
    Type { items: 81, ..Type::LEAF }, // 214: StorageVersionList.items
    Type { fields: r(339, 4), ..Type::LEAF }, // 215: Eviction.status
    Type { items: 83, ..Type::LEAF }, // 216: EvictionList.items
    Type { fields: r(343, 2), ..Type::LEAF }, // 217: Ingress.spec
    Type { items: 85, ..Type::LEAF }, // 218: IngressList.items
    Type { fields: r(345, 3), ..Type::LEAF }, // 219: NetworkPolicy.spec
    Type { items: 87, ..Type::LEAF }, // 220: NetworkPolicyList.items
    Type { fields: r(348, 1), ..Type::LEAF }, // 221: RuntimeClass.overhead
    Type { fields: r(349, 1), ..Type::LEAF }, // 222: RuntimeClass.scheduling
    Type { items: 89, ..Type::LEAF }, // 223: RuntimeClassList.items
    Type { fields: r(350, 1), ..Type::LEAF }, // 224: PodDisruptionBudget.spec
    Type { fields: r(351, 2), ..Type::LEAF }, // 225: PodDisruptionBudget.status
    Type { items: 91, ..Type::LEAF }, // 226: PodDisruptionBudgetList.items
    Type { fields: r(353, 1), ..Type::LEAF }, // 227: ClusterRole.aggregationRule
    Type { items: 94, ..Type::LEAF }, // 228: ClusterRoleBindingList.items
    Type { items: 93, ..Type::LEAF }, // 229: ClusterRoleList.items
    Type { fields: r(354, 1), ..Type::LEAF }, // 230: DeviceClass.spec
    Type { items: 97, ..Type::LEAF }, // 231: DeviceClassList.items
    Type { fields: r(355, 1), ..Type::LEAF }, // 232: ResourceClaim.spec
    Type { fields: r(356, 3), ..Type::LEAF }, // 233: ResourceClaim.status
    Type { fields: r(359, 1), ..Type::LEAF }, // 234: ResourceClaim.spec
    Type { items: 99, ..Type::LEAF }, // 235: ResourceClaimList.items
    Type { items: 100, ..Type::LEAF }, // 236: ResourceClaimList.items
    Type { fields: r(360, 2), ..Type::LEAF }, // 237: ResourceClaimTemplate.spec
    Type { fields: r(362, 2), ..Type::LEAF }, // 238: ResourceClaimTemplate.spec
    Type { items: 103, ..Type::LEAF }, // 239: ResourceClaimTemplateList.items
    Type { items: 104, ..Type::LEAF }, // 240: ResourceClaimTemplateList.items
    Type { fields: r(364, 4), ..Type::LEAF }, // 241: ResourceSlice.spec
    Type { fields: r(368, 4), ..Type::LEAF }, // 242: ResourceSlice.spec
    Type { items: 107, ..Type::LEAF }, // 243: ResourceSliceList.items
    Type { items: 108, ..Type::LEAF }, // 244: ResourceSliceList.items
    Type { fields: r(372, 2), ..Type::LEAF }, // 245: CompositePodGroup.spec
    Type { items: 111, ..Type::LEAF }, // 246: CompositePodGroupList.items
    Type { fields: r(374, 3), ..Type::LEAF }, // 247: PodGroup.spec
    Type { fields: r(377, 2), ..Type::LEAF }, // 248: PodGroup.status
    Type { items: 113, ..Type::LEAF }, // 249: PodGroupList.items
    Type { fields: r(379, 2), ..Type::LEAF }, // 250: Workload.spec
    Type { items: 115, ..Type::LEAF }, // 251: WorkloadList.items
    Type { fields: r(381, 1), ..Type::LEAF }, // 252: CSIDriver.spec
    Type { items: 117, ..Type::LEAF }, // 253: CSIDriverList.items
    Type { fields: r(382, 1), ..Type::LEAF }, // 254: CSINode.spec
    Type { fields: r(383, 1), ..Type::LEAF }, // 255: CSINode.status
    Type { items: 119, ..Type::LEAF }, // 256: CSINodeList.items
    Type { fields: r(384, 1), map: MapType::Atomic, ..Type::LEAF }, // 257: CSIStorageCapacity.nodeTopology
    Type { items: 121, ..Type::LEAF }, // 258: CSIStorageCapacityList.items
    Type { items: 123, ..Type::LEAF }, // 259: StorageClassList.items
    Type { fields: r(385, 1), ..Type::LEAF }, // 260: VolumeAttachment.spec
    Type { fields: r(386, 1), ..Type::LEAF }, // 261: VolumeAttachment.status
    Type { items: 125, ..Type::LEAF }, // 262: VolumeAttachmentList.items
    Type { items: 127, ..Type::LEAF }, // 263: VolumeAttributesClassList.items
    Type { list: ListRelation::Set, strategy: s(true, false, false), ..Type::LEAF }, // 264: Binding.metadata.finalizers
    Type { items: 327, ..Type::LEAF }, // 265: Binding.metadata.managedFields
    Type { items: 130, list: ListRelation::Map, keys: r(21, 1), strategy: s(true, false, false), merge_key: r(4557, 3), ..Type::LEAF }, // 266: Binding.metadata.ownerReferences
    Type { fields: r(387, 3), ..Type::LEAF }, // 267: Endpoints.subsets[]
    Type { items: 329, ..Type::LEAF }, // 268: LimitRange.spec.limits
    Type { fields: r(390, 1), ..Type::LEAF }, // 269: Node.spec.podPreemptionPolicy
    Type { fields: r(391, 1), ..Type::LEAF }, // 270: PersistentVolume.spec.cephfs
    Type { fields: r(392, 6), ..Type::LEAF }, // 271: PersistentVolume.spec.csi
    Type { fields: r(398, 2), ..Type::LEAF }, // 272: PersistentVolume.spec.flexVolume
    Type { fields: r(400, 1), ..Type::LEAF }, // 273: PersistentVolume.spec.nodeAffinity
    Type { fields: r(401, 2), ..Type::LEAF }, // 274: PersistentVolumeClaim.spec.resources
    Type { fields: r(403, 1), ..Type::LEAF }, // 275: PersistentVolumeClaim.status.healthStatus
    Type { fields: r(404, 3), ..Type::LEAF }, // 276: Pod.spec.affinity
    Type { items: 333, list: ListRelation::Map, keys: r(10, 1), strategy: s(true, false, false), merge_key: r(2047, 4), ..Type::LEAF }, // 277: Pod.spec.containers
    Type { list: ListRelation::Map, keys: r(8, 1), strategy: s(true, false, false), merge_key: r(1861, 2), ..Type::LEAF }, // 278: Pod.spec.hostAliases
    Type { values: 0, map: MapType::Atomic, open: true, ..Type::LEAF }, // 279: Pod.spec.nodeSelector
    Type { list: ListRelation::Map, keys: r(10, 1), strategy: s(true, false, true), merge_key: r(2047, 4), ..Type::LEAF }, // 280: Pod.spec.resourceClaims
    Type { fields: r(407, 3), ..Type::LEAF }, // 281: Pod.spec.resources
    Type { list: ListRelation::Map, keys: r(10, 1), strategy: s(true, false, false), merge_key: r(2047, 4), ..Type::LEAF }, // 282: Pod.spec.schedulingGates
    Type { items: 335, list: ListRelation::Map, keys: r(18, 2), strategy: s(true, false, false), merge_key: r(3648, 11), ..Type::LEAF }, // 283: Pod.spec.topologySpreadConstraints
    Type { items: 336, list: ListRelation::Map, keys: r(10, 1), strategy: s(true, false, true), merge_key: r(2047, 4), ..Type::LEAF }, // 284: Pod.spec.volumes
    Type { items: 337, ..Type::LEAF }, // 285: Pod.status.containerStatuses
    Type { strategy: s(true, false, false), merge_key: r(1861, 2), ..Type::LEAF }, // 286: Pod.status.hostIPs
    Type { items: 338, list: ListRelation::Map, keys: r(13, 1), strategy: s(true, false, false), merge_key: r(2149, 17), ..Type::LEAF }, // 287: Pod.status.nodeAllocatableResourceClaimStatuses
    Type { items: 275, list: ListRelation::Map, keys: r(10, 1), ..Type::LEAF }, // 288: Pod.status.volumeHealth
    Type { list: ListRelation::Map, keys: r(11, 2), strategy: s(true, false, false), merge_key: r(4489, 4), ..Type::LEAF }, // 289: Service.spec.ports
    Type { fields: r(410, 4), map: MapType::Atomic, ..Type::LEAF }, // 290: MutatingAdmissionPolicy.spec.matchConstraints
    Type { fields: r(414, 1), map: MapType::Atomic, ..Type::LEAF }, // 291: MutatingAdmissionPolicyBinding.spec.paramRef
    Type { fields: r(415, 3), ..Type::LEAF }, // 292: MutatingWebhookConfiguration.webhooks[]
    Type { list: ListRelation::Map, keys: r(20, 1), ..Type::LEAF }, // 293: ValidatingAdmissionPolicy.status.conditions
    Type { list: ListRelation::Set, ..Type::LEAF }, // 294: ValidatingAdmissionPolicyBinding.spec.validationActions
    Type { items: 339, ..Type::LEAF }, // 295: CustomResourceDefinition.spec.versions
    Type { strategy: s(false, false, true), ..Type::LEAF }, // 296: Deployment.spec.strategy
    Type { items: 340, ..Type::LEAF }, // 297: HorizontalPodAutoscaler.spec.metrics
    Type { fields: r(418, 2), ..Type::LEAF }, // 298: CronJob.spec.jobTemplate
    Type { fields: r(420, 1), ..Type::LEAF }, // 299: Job.spec.podFailurePolicy
    Type { fields: r(421, 3), ..Type::LEAF }, // 300: Job.spec.scheduling
    Type { strategy: s(true, false, false), merge_key: r(4540, 4), ..Type::LEAF }, // 301: Job.status.conditions
    Type { fields: r(424, 2), ..Type::LEAF }, // 302: Job.status.uncountedTerminatedPods
    Type { fields: r(426, 3), ..Type::LEAF }, // 303: EndpointSlice.endpoints[]
    Type { items: 342, ..Type::LEAF }, // 304: FlowSchema.spec.rules
    Type { items: 343, list: ListRelation::Map, keys: r(0, 1), ..Type::LEAF }, // 305: StorageVersion.status.storageVersions
    Type { fields: r(429, 2), ..Type::LEAF }, // 306: Ingress.spec.defaultBackend
    Type { items: 345, ..Type::LEAF }, // 307: Ingress.spec.rules
    Type { items: 346, ..Type::LEAF }, // 308: NetworkPolicy.spec.egress
    Type { items: 347, ..Type::LEAF }, // 309: NetworkPolicy.spec.ingress
    Type { fields: r(431, 1), map: MapType::Atomic, strategy: s(false, true, false), ..Type::LEAF }, // 310: PodDisruptionBudget.spec.selector
    Type { items: 257, ..Type::LEAF }, // 311: ClusterRole.aggregationRule.clusterRoleSelectors
    Type { items: 348, ..Type::LEAF }, // 312: DeviceClass.spec.config
    Type { fields: r(432, 2), ..Type::LEAF }, // 313: ResourceClaim.spec.devices
    Type { fields: r(434, 2), ..Type::LEAF }, // 314: ResourceClaim.status.allocation
    Type { items: 351, list: ListRelation::Map, keys: r(4, 4), ..Type::LEAF }, // 315: ResourceClaim.status.devices
    Type { list: ListRelation::Map, keys: r(21, 1), strategy: s(true, false, false), merge_key: r(4557, 3), ..Type::LEAF }, // 316: ResourceClaim.status.reservedFor
    Type { fields: r(436, 2), ..Type::LEAF }, // 317: ResourceClaim.spec.devices
    Type { items: 353, ..Type::LEAF }, // 318: ResourceSlice.spec.devices
    Type { fields: r(438, 1), map: MapType::Atomic, ..Type::LEAF }, // 319: ResourceSlice.spec.nodeSelector
    Type { items: 354, ..Type::LEAF }, // 320: ResourceSlice.spec.sharedCounters
    Type { items: 355, ..Type::LEAF }, // 321: ResourceSlice.spec.devices
    Type { fields: r(439, 2), ..Type::LEAF }, // 322: CompositePodGroup.spec.disruptionMode
    Type { fields: r(441, 1), ..Type::LEAF }, // 323: CompositePodGroup.spec.schedulingPolicy
    Type { items: 356, list: ListRelation::Map, keys: r(10, 1), ..Type::LEAF }, // 324: Workload.spec.compositePodGroupTemplates
    Type { items: 247, list: ListRelation::Map, keys: r(10, 1), ..Type::LEAF }, // 325: Workload.spec.podGroupTemplates
    Type { fields: r(442, 1), ..Type::LEAF }, // 326: VolumeAttachment.spec.source
    Type { fields: r(443, 1), ..Type::LEAF }, // 327: Binding.metadata.managedFields[]
    Type { items: 357, ..Type::LEAF }, // 328: Endpoints.subsets[].addresses
    Type { fields: r(444, 5), ..Type::LEAF }, // 329: LimitRange.spec.limits[]
    Type { list: ListRelation::Map, keys: r(16, 2), strategy: s(true, false, false), merge_key: r(4427, 6), ..Type::LEAF }, // 330: PersistentVolumeClaim.status.healthStatus.healthConditions
    Type { fields: r(449, 2), ..Type::LEAF }, // 331: Pod.spec.affinity.nodeAffinity
    Type { fields: r(451, 2), ..Type::LEAF }, // 332: Pod.spec.affinity.podAffinity
    Type { fields: r(453, 6), ..Type::LEAF }, // 333: Pod.spec.containers[]
    Type { list: ListRelation::Map, keys: r(10, 1), ..Type::LEAF }, // 334: Pod.spec.resources.claims
    Type { fields: r(459, 1), ..Type::LEAF }, // 335: Pod.spec.topologySpreadConstraints[]
    Type { fields: r(460, 11), ..Type::LEAF }, // 336: Pod.spec.volumes[]
    Type { fields: r(471, 4), ..Type::LEAF }, // 337: Pod.status.containerStatuses[]
    Type { fields: r(475, 3), ..Type::LEAF }, // 338: Pod.status.nodeAllocatableResourceClaimStatuses[]
    Type { fields: r(478, 2), ..Type::LEAF }, // 339: CustomResourceDefinition.spec.versions[]
    Type { fields: r(480, 3), ..Type::LEAF }, // 340: HorizontalPodAutoscaler.spec.metrics[]
    Type { items: 375, ..Type::LEAF }, // 341: Job.spec.podFailurePolicy.rules
    Type { fields: r(483, 2), ..Type::LEAF }, // 342: FlowSchema.spec.rules[]
    Type { fields: r(485, 2), ..Type::LEAF }, // 343: StorageVersion.status.storageVersions[]
    Type { fields: r(487, 1), ..Type::LEAF }, // 344: Ingress.spec.defaultBackend.service
    Type { fields: r(488, 1), ..Type::LEAF }, // 345: Ingress.spec.rules[]
    Type { fields: r(489, 1), ..Type::LEAF }, // 346: NetworkPolicy.spec.egress[]
    Type { fields: r(490, 1), ..Type::LEAF }, // 347: NetworkPolicy.spec.ingress[]
    Type { fields: r(491, 1), ..Type::LEAF }, // 348: DeviceClass.spec.config[]
    Type { items: 381, ..Type::LEAF }, // 349: ResourceClaim.spec.devices.requests
    Type { fields: r(492, 2), ..Type::LEAF }, // 350: ResourceClaim.status.allocation.devices
    Type { fields: r(494, 2), ..Type::LEAF }, // 351: ResourceClaim.status.devices[]
    Type { items: 383, ..Type::LEAF }, // 352: ResourceClaim.spec.devices.requests
    Type { fields: r(496, 5), ..Type::LEAF }, // 353: ResourceSlice.spec.devices[]
    Type { fields: r(501, 1), ..Type::LEAF }, // 354: ResourceSlice.spec.sharedCounters[]
    Type { fields: r(502, 1), ..Type::LEAF }, // 355: ResourceSlice.spec.devices[]
    Type { fields: r(503, 4), ..Type::LEAF }, // 356: Workload.spec.compositePodGroupTemplates[]
    Type { fields: r(507, 1), map: MapType::Atomic, ..Type::LEAF }, // 357: Endpoints.subsets[].addresses[]
    Type { items: 384, ..Type::LEAF }, // 358: Pod.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution
    Type { items: 385, ..Type::LEAF }, // 359: Pod.spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution
    Type { items: 386, ..Type::LEAF }, // 360: Pod.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution
    Type { items: 387, list: ListRelation::Map, keys: r(10, 1), strategy: s(true, false, false), merge_key: r(2047, 4), ..Type::LEAF }, // 361: Pod.spec.containers[].env
    Type { list: ListRelation::Map, keys: r(1, 2), strategy: s(true, false, false), merge_key: r(3177, 13), ..Type::LEAF }, // 362: Pod.spec.containers[].ports
    Type { items: 388, ..Type::LEAF }, // 363: Pod.spec.containers[].restartPolicyRules
    Type { list: ListRelation::Map, keys: r(3, 1), strategy: s(true, false, false), merge_key: r(3739, 10), ..Type::LEAF }, // 364: Pod.spec.containers[].volumeDevices
    Type { items: 389, list: ListRelation::Map, keys: r(9, 1), strategy: s(true, false, false), merge_key: r(3913, 9), ..Type::LEAF }, // 365: Pod.spec.containers[].volumeMounts
    Type { fields: r(508, 2), ..Type::LEAF }, // 366: Pod.spec.volumes[].csi
    Type { fields: r(510, 1), ..Type::LEAF }, // 367: Pod.spec.volumes[].downwardAPI
    Type { fields: r(511, 1), ..Type::LEAF }, // 368: Pod.spec.volumes[].ephemeral
    Type { fields: r(512, 1), ..Type::LEAF }, // 369: Pod.spec.volumes[].projected
    Type { items: 393, list: ListRelation::Map, keys: r(10, 1), strategy: s(true, false, false), merge_key: r(2047, 4), ..Type::LEAF }, // 370: Pod.status.containerStatuses[].allocatedResourcesStatus
    Type { list: ListRelation::Map, keys: r(9, 1), strategy: s(true, false, false), merge_key: r(3913, 9), ..Type::LEAF }, // 371: Pod.status.containerStatuses[].volumeMounts
    Type { fields: r(513, 1), ..Type::LEAF }, // 372: CustomResourceDefinition.spec.versions[].schema
    Type { fields: r(514, 1), ..Type::LEAF }, // 373: CustomResourceDefinition.spec.versions[].subresources
    Type { fields: r(515, 1), ..Type::LEAF }, // 374: HorizontalPodAutoscaler.spec.metrics[].external
    Type { fields: r(516, 1), ..Type::LEAF }, // 375: Job.spec.podFailurePolicy.rules[]
    Type { items: 397, ..Type::LEAF }, // 376: FlowSchema.spec.rules[].nonResourceRules
    Type { items: 398, ..Type::LEAF }, // 377: FlowSchema.spec.rules[].resourceRules
    Type { fields: r(517, 1), ..Type::LEAF }, // 378: Ingress.spec.rules[].http
    Type { items: 400, ..Type::LEAF }, // 379: NetworkPolicy.spec.egress[].to
    Type { fields: r(518, 1), ..Type::LEAF }, // 380: DeviceClass.spec.config[].opaque
    Type { fields: r(519, 2), ..Type::LEAF }, // 381: ResourceClaim.spec.devices.requests[]
    Type { items: 403, ..Type::LEAF }, // 382: ResourceClaim.status.allocation.devices.results
    Type { fields: r(521, 2), ..Type::LEAF }, // 383: ResourceClaim.spec.devices.requests[]
    Type { fields: r(523, 1), ..Type::LEAF }, // 384: Pod.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[]
    Type { fields: r(524, 1), ..Type::LEAF }, // 385: Pod.spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[]
    Type { fields: r(525, 2), ..Type::LEAF }, // 386: Pod.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[]
    Type { fields: r(527, 1), ..Type::LEAF }, // 387: Pod.spec.containers[].env[]
    Type { fields: r(528, 1), ..Type::LEAF }, // 388: Pod.spec.containers[].restartPolicyRules[]
    Type { fields: r(529, 1), ..Type::LEAF }, // 389: Pod.spec.containers[].volumeMounts[]
    Type { items: 406, ..Type::LEAF }, // 390: Pod.spec.volumes[].downwardAPI.items
    Type { fields: r(530, 2), ..Type::LEAF }, // 391: Pod.spec.volumes[].ephemeral.volumeClaimTemplate
    Type { items: 407, ..Type::LEAF }, // 392: Pod.spec.volumes[].projected.sources
    Type { fields: r(532, 1), ..Type::LEAF }, // 393: Pod.status.containerStatuses[].allocatedResourcesStatus[]
    Type { fields: r(533, 17), ..Type::LEAF }, // 394: CustomResourceDefinition.spec.versions[].schema.openAPIV3Schema
    Type { fields: r(550, 1), ..Type::LEAF }, // 395: HorizontalPodAutoscaler.spec.metrics[].external.metric
    Type { fields: r(551, 1), ..Type::LEAF }, // 396: Job.spec.podFailurePolicy.rules[].onExitCodes
    Type { fields: r(552, 2), ..Type::LEAF }, // 397: FlowSchema.spec.rules[].nonResourceRules[]
    Type { fields: r(554, 4), ..Type::LEAF }, // 398: FlowSchema.spec.rules[].resourceRules[]
    Type { items: 414, ..Type::LEAF }, // 399: Ingress.spec.rules[].http.paths
    Type { fields: r(558, 2), ..Type::LEAF }, // 400: NetworkPolicy.spec.egress[].to[]
    Type { fields: r(560, 1), ..Type::LEAF }, // 401: ResourceClaim.spec.devices.requests[].exactly
    Type { items: 401, ..Type::LEAF }, // 402: ResourceClaim.spec.devices.requests[].firstAvailable
    Type { fields: r(561, 2), ..Type::LEAF }, // 403: ResourceClaim.status.allocation.devices.results[]
    Type { fields: r(563, 1), ..Type::LEAF }, // 404: ResourceClaim.spec.devices.requests[].capacity
    Type { fields: r(564, 5), ..Type::LEAF }, // 405: Pod.spec.containers[].env[].valueFrom
    Type { fields: r(569, 2), ..Type::LEAF }, // 406: Pod.spec.volumes[].downwardAPI.items[]
    Type { fields: r(571, 3), ..Type::LEAF }, // 407: Pod.spec.volumes[].projected.sources[]
    Type { list: ListRelation::Map, keys: r(14, 1), ..Type::LEAF }, // 408: Pod.status.containerStatuses[].allocatedResourcesStatus[].resources
    Type { items: 394, ..Type::LEAF }, // 409: CustomResourceDefinition.spec.versions[].schema.openAPIV3Schema.allOf
    Type { values: 394, open: true, ..Type::LEAF }, // 410: CustomResourceDefinition.spec.versions[].schema.openAPIV3Schema.definitions
    Type { values: 166, open: true, ..Type::LEAF }, // 411: CustomResourceDefinition.spec.versions[].schema.openAPIV3Schema.dependencies
    Type { items: 166, ..Type::LEAF }, // 412: CustomResourceDefinition.spec.versions[].schema.openAPIV3Schema.enum
    Type { list: ListRelation::Map, keys: r(15, 1), strategy: s(true, false, false), merge_key: r(4494, 4), ..Type::LEAF }, // 413: CustomResourceDefinition.spec.versions[].schema.openAPIV3Schema.x-kubernetes-validations
    Type { fields: r(574, 1), ..Type::LEAF }, // 414: Ingress.spec.rules[].http.paths[]
    Type { fields: r(575, 1), ..Type::LEAF }, // 415: Pod.spec.volumes[].projected.sources[].podCertificate
];

static FIELDS: [Field; 576] = [
    // 1: Binding
    f(4051, 8, 129), // metadata
    f(2489, 6, 130), // target
    // 2: ComponentStatus
    f(3709, 10, 131), // conditions
    f(4051, 8, 129), // metadata
    // 3: ComponentStatusList
    f(4474, 5, 132), // items
    // 4: ConfigMap
    f(3699, 10, 133), // binaryData
    f(1747, 4, 133), // data
    f(4051, 8, 129), // metadata
    // 5: ConfigMapList
    f(4474, 5, 134), // items
    // 6: Endpoints
    f(4051, 8, 129), // metadata
    f(4320, 7, 135), // subsets
    // 7: EndpointsList
    f(4474, 5, 136), // items
    // 8: Event
    f(2960, 14, 130), // involvedObject
    f(4051, 8, 129), // metadata
    f(4271, 7, 130), // related
    // 9: EventList
    f(4474, 5, 137), // items
    // 10: LimitRange
    f(4051, 8, 129), // metadata
    f(4536, 4, 138), // spec
    // 11: LimitRangeList
    f(4474, 5, 139), // items
    // 12: Namespace
    f(4051, 8, 129), // metadata
    f(4427, 6, 140), // status
    // 13: NamespaceList
    f(4474, 5, 141), // items
    // 14: Node
    f(4051, 8, 129), // metadata
    f(4536, 4, 142), // spec
    f(4427, 6, 143), // status
    // 15: NodeList
    f(4474, 5, 144), // items
    // 16: PersistentVolume
    f(4051, 8, 129), // metadata
    f(4536, 4, 145), // spec
    // 17: PersistentVolumeClaim
    f(4051, 8, 129), // metadata
    f(4536, 4, 146), // spec
    f(4427, 6, 147), // status
    // 18: PersistentVolumeClaimList
    f(4474, 5, 148), // items
    // 19: PersistentVolumeList
    f(4474, 5, 149), // items
    // 20: Pod
    f(4051, 8, 129), // metadata
    f(4536, 4, 150), // spec
    f(4427, 6, 151), // status
    // 21: PodList
    f(4474, 5, 152), // items
    // 22: PodTemplate
    f(4051, 8, 129), // metadata
    f(4131, 8, 153), // template
    // 23: PodTemplateList
    f(4474, 5, 154), // items
    // 24: ReplicationController
    f(4051, 8, 129), // metadata
    f(4536, 4, 155), // spec
    f(4427, 6, 140), // status
    // 25: ReplicationControllerList
    f(4474, 5, 156), // items
    // 26: ResourceQuota
    f(4051, 8, 129), // metadata
    f(4536, 4, 157), // spec
    f(4427, 6, 158), // status
    // 27: ResourceQuotaList
    f(4474, 5, 159), // items
    // 28: Secret
    f(1747, 4, 133), // data
    f(4051, 8, 129), // metadata
    f(3849, 10, 133), // stringData
    // 29: SecretList
    f(4474, 5, 160), // items
    // 30: Service
    f(4051, 8, 129), // metadata
    f(4536, 4, 161), // spec
    f(4427, 6, 140), // status
    // 31: ServiceAccount
    f(2361, 16, 162), // imagePullSecrets
    f(4051, 8, 129), // metadata
    f(4299, 7, 163), // secrets
    // 32: ServiceAccountList
    f(4474, 5, 164), // items
    // 33: ServiceList
    f(4474, 5, 165), // items
    // 34: WatchEvent
    f(2988, 6, 166), // object
    // 35: MutatingAdmissionPolicy
    f(4051, 8, 129), // metadata
    f(4536, 4, 167), // spec
    // 36: MutatingAdmissionPolicy
    f(4051, 8, 129), // metadata
    f(4536, 4, 168), // spec
    // 37: MutatingAdmissionPolicyBinding
    f(4051, 8, 129), // metadata
    f(4536, 4, 169), // spec
    // 38: MutatingAdmissionPolicyBindingList
    f(4474, 5, 170), // items
    // 39: MutatingAdmissionPolicyList
    f(4474, 5, 171), // items
    // 40: MutatingAdmissionPolicyList
    f(4474, 5, 172), // items
    // 41: MutatingWebhookConfiguration
    f(4051, 8, 129), // metadata
    f(4179, 8, 173), // webhooks
    // 42: MutatingWebhookConfigurationList
    f(4474, 5, 174), // items
    // 43: ValidatingAdmissionPolicy
    f(4051, 8, 129), // metadata
    f(4536, 4, 175), // spec
    f(4427, 6, 176), // status
    // 44: ValidatingAdmissionPolicyBinding
    f(4051, 8, 129), // metadata
    f(4536, 4, 177), // spec
    // 45: ValidatingAdmissionPolicyBindingList
    f(4474, 5, 178), // items
    // 46: ValidatingAdmissionPolicyList
    f(4474, 5, 179), // items
    // 47: CustomResourceDefinition
    f(4051, 8, 129), // metadata
    f(4536, 4, 180), // spec
    f(4427, 6, 176), // status
    // 48: CustomResourceDefinitionList
    f(4474, 5, 181), // items
    // 49: ControllerRevision
    f(1747, 4, 166), // data
    f(4051, 8, 129), // metadata
    // 50: ControllerRevisionList
    f(4474, 5, 182), // items
    // 51: DaemonSet
    f(4051, 8, 129), // metadata
    f(4536, 4, 183), // spec
    f(4427, 6, 140), // status
    // 52: DaemonSetList
    f(4474, 5, 184), // items
    // 53: Deployment
    f(4051, 8, 129), // metadata
    f(4536, 4, 185), // spec
    f(4427, 6, 140), // status
    // 54: DeploymentList
    f(4474, 5, 186), // items
    // 55: StatefulSet
    f(4051, 8, 129), // metadata
    f(4536, 4, 187), // spec
    f(4427, 6, 140), // status
    // 56: StatefulSetList
    f(4474, 5, 188), // items
    // 57: SelfSubjectReview
    f(4051, 8, 129), // metadata
    f(4427, 6, 189), // status
    // 58: TokenRequest
    f(4051, 8, 129), // metadata
    f(4536, 4, 190), // spec
    // 59: TokenReview
    f(4051, 8, 129), // metadata
    f(4427, 6, 191), // status
    // 60: LocalSubjectAccessReview
    f(4051, 8, 129), // metadata
    f(4536, 4, 192), // spec
    // 61: SelfSubjectAccessReview
    f(4051, 8, 129), // metadata
    // 62: HorizontalPodAutoscaler
    f(4051, 8, 129), // metadata
    f(4536, 4, 193), // spec
    f(4427, 6, 194), // status
    // 63: HorizontalPodAutoscaler
    f(4051, 8, 129), // metadata
    f(4536, 4, 195), // spec
    // 64: HorizontalPodAutoscalerList
    f(4474, 5, 196), // items
    // 65: HorizontalPodAutoscalerList
    f(4474, 5, 197), // items
    // 66: CronJob
    f(4051, 8, 129), // metadata
    f(4536, 4, 198), // spec
    f(4427, 6, 199), // status
    // 67: CronJobList
    f(4474, 5, 200), // items
    // 68: Job
    f(4051, 8, 129), // metadata
    f(4536, 4, 201), // spec
    f(4427, 6, 202), // status
    // 69: JobList
    f(4474, 5, 203), // items
    // 70: CertificateSigningRequest
    f(4051, 8, 129), // metadata
    f(4536, 4, 192), // spec
    f(4427, 6, 176), // status
    // 71: CertificateSigningRequestList
    f(4474, 5, 204), // items
    // 72: ClusterTrustBundleList
    f(4474, 5, 205), // items
    // 73: PodCertificateRequest
    f(4051, 8, 129), // metadata
    f(4536, 4, 206), // spec
    f(4427, 6, 140), // status
    // 74: PodCertificateRequestList
    f(4474, 5, 207), // items
    // 75: EndpointSlice
    f(3895, 9, 208), // endpoints
    f(4051, 8, 129), // metadata
    f(4489, 5, 162), // ports
    // 76: EndpointSliceList
    f(4474, 5, 209), // items
    // 77: Event
    f(4051, 8, 129), // metadata
    f(3940, 9, 130), // regarding
    f(4271, 7, 130), // related
    // 78: EventList
    f(4474, 5, 210), // items
    // 79: FlowSchema
    f(4051, 8, 129), // metadata
    f(4536, 4, 211), // spec
    f(4427, 6, 140), // status
    // 80: FlowSchemaList
    f(4474, 5, 212), // items
    // 81: StorageVersion
    f(4051, 8, 129), // metadata
    f(4536, 4, 166), // spec
    f(4427, 6, 213), // status
    // 82: StorageVersionList
    f(4474, 5, 214), // items
    // 83: Eviction
    f(4051, 8, 129), // metadata
    f(4427, 6, 215), // status
    // 84: EvictionList
    f(4474, 5, 216), // items
    // 85: Ingress
    f(4051, 8, 129), // metadata
    f(4536, 4, 217), // spec
    // 86: IngressList
    f(4474, 5, 218), // items
    // 87: NetworkPolicy
    f(4051, 8, 129), // metadata
    f(4536, 4, 219), // spec
    // 88: NetworkPolicyList
    f(4474, 5, 220), // items
    // 89: RuntimeClass
    f(4051, 8, 129), // metadata
    f(4059, 8, 221), // overhead
    f(2166, 10, 222), // scheduling
    // 90: RuntimeClassList
    f(4474, 5, 223), // items
    // 91: PodDisruptionBudget
    f(4051, 8, 129), // metadata
    f(4536, 4, 224), // spec
    f(4427, 6, 225), // status
    // 92: PodDisruptionBudgetList
    f(4474, 5, 226), // items
    // 93: ClusterRole
    f(2626, 15, 227), // aggregationRule
    f(4051, 8, 129), // metadata
    // 94: ClusterRoleBinding
    f(4051, 8, 129), // metadata
    f(4285, 7, 130), // roleRef
    f(4123, 8, 162), // subjects
    // 95: ClusterRoleBindingList
    f(4474, 5, 228), // items
    // 96: ClusterRoleList
    f(4474, 5, 229), // items
    // 97: DeviceClass
    f(4051, 8, 129), // metadata
    f(4536, 4, 230), // spec
    // 98: DeviceClassList
    f(4474, 5, 231), // items
    // 99: ResourceClaim
    f(4051, 8, 129), // metadata
    f(4536, 4, 232), // spec
    f(4427, 6, 233), // status
    // 100: ResourceClaim
    f(4051, 8, 129), // metadata
    f(4536, 4, 234), // spec
    f(4427, 6, 233), // status
    // 101: ResourceClaimList
    f(4474, 5, 235), // items
    // 102: ResourceClaimList
    f(4474, 5, 236), // items
    // 103: ResourceClaimTemplate
    f(4051, 8, 129), // metadata
    f(4536, 4, 237), // spec
    // 104: ResourceClaimTemplate
    f(4051, 8, 129), // metadata
    f(4536, 4, 238), // spec
    // 105: ResourceClaimTemplateList
    f(4474, 5, 239), // items
    // 106: ResourceClaimTemplateList
    f(4474, 5, 240), // items
    // 107: ResourceSlice
    f(4051, 8, 129), // metadata
    f(4536, 4, 241), // spec
    // 108: ResourceSlice
    f(4051, 8, 129), // metadata
    f(4536, 4, 242), // spec
    // 109: ResourceSliceList
    f(4474, 5, 243), // items
    // 110: ResourceSliceList
    f(4474, 5, 244), // items
    // 111: CompositePodGroup
    f(4051, 8, 129), // metadata
    f(4536, 4, 245), // spec
    f(4427, 6, 140), // status
    // 112: CompositePodGroupList
    f(4474, 5, 246), // items
    // 113: PodGroup
    f(4051, 8, 129), // metadata
    f(4536, 4, 247), // spec
    f(4427, 6, 248), // status
    // 114: PodGroupList
    f(4474, 5, 249), // items
    // 115: Workload
    f(4051, 8, 129), // metadata
    f(4536, 4, 250), // spec
    // 116: WorkloadList
    f(4474, 5, 251), // items
    // 117: CSIDriver
    f(4051, 8, 129), // metadata
    f(4536, 4, 252), // spec
    // 118: CSIDriverList
    f(4474, 5, 253), // items
    // 119: CSINode
    f(4051, 8, 129), // metadata
    f(4536, 4, 254), // spec
    f(4427, 6, 255), // status
    // 120: CSINodeList
    f(4474, 5, 256), // items
    // 121: CSIStorageCapacity
    f(4051, 8, 129), // metadata
    f(3390, 12, 257), // nodeTopology
    // 122: CSIStorageCapacityList
    f(4474, 5, 258), // items
    // 123: StorageClass
    f(1996, 17, 162), // allowedTopologies
    f(4051, 8, 129), // metadata
    f(3789, 10, 133), // parameters
    // 124: StorageClassList
    f(4474, 5, 259), // items
    // 125: VolumeAttachment
    f(4051, 8, 129), // metadata
    f(4536, 4, 260), // spec
    f(4427, 6, 261), // status
    // 126: VolumeAttachmentList
    f(4474, 5, 262), // items
    // 127: VolumeAttributesClass
    f(4051, 8, 129), // metadata
    f(3789, 10, 133), // parameters
    // 128: VolumeAttributesClassList
    f(4474, 5, 263), // items
    // 129: Binding.metadata
    f(3516, 11, 133), // annotations
    f(3759, 10, 264), // finalizers
    f(4391, 6, 133), // labels
    f(3229, 13, 265), // managedFields
    f(2701, 15, 266), // ownerReferences
    // 138: LimitRange.spec
    f(4397, 6, 268), // limits
    // 140: Namespace.status
    f(3709, 10, 131), // conditions
    // 142: Node.spec
    f(4075, 8, 264), // podCIDRs
    f(1660, 19, 269), // podPreemptionPolicy
    // 143: Node.status
    f(3877, 9, 131), // addresses
    f(3505, 11, 133), // allocatable
    f(4011, 8, 133), // capacity
    f(3709, 10, 131), // conditions
    // 145: PersistentVolume.spec
    f(4011, 8, 133), // capacity
    f(4361, 6, 270), // cephfs
    f(4367, 6, 270), // cinder
    f(4471, 3, 271), // csi
    f(3769, 10, 272), // flexVolume
    f(4469, 5, 270), // iscsi
    f(3378, 12, 273), // nodeAffinity
    f(4554, 3, 270), // rbd
    f(4292, 7, 270), // scaleIO
    f(3958, 9, 270), // storageos
    // 146: PersistentVolumeClaim.spec
    f(3729, 10, 130), // dataSource
    f(3417, 9, 274), // resources
    f(4107, 8, 257), // selector
    // 147: PersistentVolumeClaim.status
    f(750, 25, 133), // allocatedResourceStatuses
    f(924, 18, 133), // allocatedResources
    f(4011, 8, 133), // capacity
    f(3709, 10, 131), // conditions
    f(3366, 12, 275), // healthStatus
    // 150: Pod.spec
    f(4003, 8, 276), // affinity
    f(3719, 10, 277), // containers
    f(1622, 19, 277), // ephemeralContainers
    f(1787, 18, 163), // evictionResponders
    f(3571, 11, 278), // hostAliases
    f(2361, 16, 163), // imagePullSecrets
    f(2946, 14, 277), // initContainers
    f(2081, 12, 279), // nodeSelector
    f(4059, 8, 133), // overhead
    f(3016, 14, 280), // resourceClaims
    f(3417, 9, 281), // resources
    f(2761, 15, 282), // schedulingGates
    f(850, 25, 283), // topologySpreadConstraints
    f(4348, 7, 284), // volumes
    // 151: Pod.status
    f(924, 18, 133), // allocatedResources
    f(3709, 10, 131), // conditions
    f(2013, 17, 285), // containerStatuses
    f(599, 26, 285), // ephemeralContainerStatuses
    f(4236, 7, 286), // hostIPs
    f(1285, 21, 285), // initContainerStatuses
    f(129, 36, 287), // nodeAllocatableResourceClaimStatuses
    f(4409, 6, 278), // podIPs
    f(1306, 21, 280), // resourceClaimStatuses
    f(3417, 9, 281), // resources
    f(3426, 12, 288), // volumeHealth
    // 153: PodTemplate.template
    f(4051, 8, 129), // metadata
    f(4536, 4, 150), // spec
    // 155: ReplicationController.spec
    f(4107, 8, 279), // selector
    f(4131, 8, 153), // template
    // 157: ResourceQuota.spec
    f(4520, 4, 133), // hard
    f(3255, 13, 130), // scopeSelector
    // 158: ResourceQuota.status
    f(4520, 4, 133), // hard
    f(4544, 4, 133), // used
    // 161: Service.spec
    f(4489, 5, 289), // ports
    f(4107, 8, 279), // selector
    // 167: MutatingAdmissionPolicy.spec
    f(2656, 15, 282), // matchConditions
    f(2409, 16, 290), // matchConstraints
    f(3922, 9, 130), // paramKind
    f(3994, 9, 162), // variables
    // 168: MutatingAdmissionPolicy.spec
    f(2656, 15, 282), // matchConditions
    f(2409, 16, 290), // matchConstraints
    f(3922, 9, 130), // paramKind
    // 169: MutatingAdmissionPolicyBinding.spec
    f(2974, 14, 290), // matchResources
    f(4067, 8, 291), // paramRef
    // 175: ValidatingAdmissionPolicy.spec
    f(2656, 15, 282), // matchConditions
    f(2409, 16, 290), // matchConstraints
    f(3922, 9, 130), // paramKind
    f(3994, 9, 163), // variables
    // 176: ValidatingAdmissionPolicy.status
    f(3709, 10, 293), // conditions
    // 177: ValidatingAdmissionPolicyBinding.spec
    f(2974, 14, 290), // matchResources
    f(4067, 8, 291), // paramRef
    f(2183, 17, 294), // validationActions
    // 180: CustomResourceDefinition.spec
    f(4171, 8, 295), // versions
    // 183: DaemonSet.spec
    f(4107, 8, 257), // selector
    f(4131, 8, 153), // template
    // 185: Deployment.spec
    f(4107, 8, 257), // selector
    f(4115, 8, 296), // strategy
    f(4131, 8, 153), // template
    // 187: StatefulSet.spec
    f(4107, 8, 257), // selector
    f(4131, 8, 153), // template
    f(1487, 20, 148), // volumeClaimTemplates
    // 189: SelfSubjectReview.status
    f(4139, 8, 192), // userInfo
    // 190: TokenRequest.spec
    f(3342, 12, 133), // attestations
    // 191: TokenReview.status
    f(2791, 4, 192), // user
    // 192: LocalSubjectAccessReview.spec
    f(4464, 5, 133), // extra
    // 193: HorizontalPodAutoscaler.spec
    f(4257, 7, 297), // metrics
    // 194: HorizontalPodAutoscaler.status
    f(3709, 10, 131), // conditions
    f(2876, 14, 297), // currentMetrics
    // 195: HorizontalPodAutoscaler.spec
    f(3030, 14, 130), // scaleTargetRef
    // 198: CronJob.spec
    f(3582, 11, 298), // jobTemplate
    // 199: CronJob.status
    f(4355, 6, 162), // active
    // 201: Job.spec
    f(2441, 16, 299), // podFailurePolicy
    f(2166, 10, 300), // scheduling
    f(4107, 8, 257), // selector
    f(4131, 8, 153), // template
    // 202: Job.status
    f(3709, 10, 301), // conditions
    f(1088, 23, 302), // uncountedTerminatedPods
    // 206: PodCertificateRequest.spec
    f(875, 25, 133), // unverifiedUserAnnotations
    // 211: FlowSchema.spec
    f(4494, 5, 304), // rules
    // 213: StorageVersion.status
    f(3709, 10, 293), // conditions
    f(2776, 15, 305), // storageVersions
    // 215: Eviction.status
    f(3709, 10, 131), // conditions
    f(3819, 10, 163), // requesters
    f(3839, 10, 282), // responders
    f(2489, 16, 163), // targetResponders
    // 217: Ingress.spec
    f(2890, 14, 306), // defaultBackend
    f(4494, 5, 307), // rules
    // 219: NetworkPolicy.spec
    f(4379, 6, 308), // egress
    f(4243, 7, 309), // ingress
    f(3626, 11, 257), // podSelector
    // 221: RuntimeClass.overhead
    f(4083, 8, 133), // podFixed
    // 222: RuntimeClass.scheduling
    f(2081, 12, 279), // nodeSelector
    // 224: PodDisruptionBudget.spec
    f(4107, 8, 310), // selector
    // 225: PodDisruptionBudget.status
    f(3709, 10, 131), // conditions
    f(3190, 13, 133), // disruptedPods
    // 227: ClusterRole.aggregationRule
    f(1407, 20, 311), // clusterRoleSelectors
    // 230: DeviceClass.spec
    f(2641, 6, 312), // config
    // 232: ResourceClaim.spec
    f(4208, 7, 313), // devices
    // 233: ResourceClaim.status
    f(3679, 10, 314), // allocation
    f(4208, 7, 315), // devices
    f(3637, 11, 316), // reservedFor
    // 234: ResourceClaim.spec
    f(4208, 7, 317), // devices
    // 237: ResourceClaimTemplate.spec
    f(4051, 8, 129), // metadata
    f(4536, 4, 232), // spec
    // 238: ResourceClaimTemplate.spec
    f(4051, 8, 129), // metadata
    f(4536, 4, 234), // spec
    // 241: ResourceSlice.spec
    f(4208, 7, 318), // devices
    f(2081, 12, 319), // nodeSelector
    f(3058, 14, 320), // sharedCounters
    f(1859, 18, 294), // skipNodeOperations
    // 242: ResourceSlice.spec
    f(4208, 7, 321), // devices
    f(2081, 12, 319), // nodeSelector
    f(3058, 14, 320), // sharedCounters
    f(1859, 18, 294), // skipNodeOperations
    // 245: CompositePodGroup.spec
    f(2918, 14, 322), // disruptionMode
    f(2473, 16, 323), // schedulingPolicy
    // 247: PodGroup.spec
    f(2918, 14, 322), // disruptionMode
    f(3016, 14, 280), // resourceClaims
    f(2473, 16, 323), // schedulingPolicy
    // 248: PodGroup.status
    f(3709, 10, 131), // conditions
    f(1306, 21, 280), // resourceClaimStatuses
    // 250: Workload.spec
    f(547, 26, 324), // compositePodGroupTemplates
    f(2132, 17, 325), // podGroupTemplates
    // 252: CSIDriver.spec
    f(1507, 20, 294), // volumeLifecycleModes
    // 254: CSINode.spec
    f(4215, 7, 282), // drivers
    // 255: CSINode.status
    f(3268, 13, 282), // storageHealth
    // 257: CSIStorageCapacity.nodeTopology
    f(3593, 11, 133), // matchLabels
    // 260: VolumeAttachment.spec
    f(146, 6, 326), // source
    // 261: VolumeAttachment.status
    f(1733, 18, 133), // attachmentMetadata
    // 267: Endpoints.subsets[]
    f(3877, 9, 328), // addresses
    f(2098, 17, 328), // notReadyAddresses
    f(4489, 5, 162), // ports
    // 269: Node.spec.podPreemptionPolicy
    f(1042, 23, 294), // disableResizePreemption
    // 270: PersistentVolume.spec.cephfs
    f(3949, 9, 130), // secretRef
    // 271: PersistentVolume.spec.csi
    f(775, 25, 130), // controllerExpandSecretRef
    f(573, 26, 130), // controllerPublishSecretRef
    f(1641, 19, 130), // nodeExpandSecretRef
    f(1467, 20, 130), // nodePublishSecretRef
    f(1823, 18, 130), // nodeStageSecretRef
    f(2505, 16, 133), // volumeAttributes
    // 272: PersistentVolume.spec.flexVolume
    f(4264, 7, 133), // options
    f(3949, 9, 130), // secretRef
    // 273: PersistentVolume.spec.nodeAffinity
    f(47, 8, 319), // required
    // 274: PersistentVolumeClaim.spec.resources
    f(4397, 6, 133), // limits
    f(4099, 8, 133), // requests
    // 275: PersistentVolumeClaim.status.healthStatus
    f(2345, 16, 330), // healthConditions
    // 276: Pod.spec.affinity
    f(3378, 12, 331), // nodeAffinity
    f(2716, 11, 332), // podAffinity
    f(2731, 15, 332), // podAntiAffinity
    // 281: Pod.spec.resources
    f(4373, 6, 334), // claims
    f(4397, 6, 133), // limits
    f(4099, 8, 133), // requests
    // 290: MutatingAdmissionPolicy.spec.matchConstraints
    f(1427, 20, 162), // excludeResourceRules
    f(2047, 17, 257), // namespaceSelector
    f(2988, 14, 257), // objectSelector
    f(3242, 13, 162), // resourceRules
    // 291: MutatingAdmissionPolicyBinding.spec.paramRef
    f(4107, 8, 257), // selector
    // 292: MutatingWebhookConfiguration.webhooks[]
    f(2656, 15, 282), // matchConditions
    f(2047, 17, 257), // namespaceSelector
    f(2988, 14, 257), // objectSelector
    // 298: CronJob.spec.jobTemplate
    f(4051, 8, 129), // metadata
    f(4536, 4, 201), // spec
    // 299: Job.spec.podFailurePolicy
    f(4494, 5, 341), // rules
    // 300: Job.spec.scheduling
    f(2918, 14, 322), // disruptionMode
    f(3016, 14, 282), // resourceClaims
    f(2473, 16, 323), // schedulingPolicy
    // 302: Job.status.uncountedTerminatedPods
    f(4385, 6, 294), // failed
    f(3967, 9, 294), // succeeded
    // 303: EndpointSlice.endpoints[]
    f(3877, 9, 294), // addresses
    f(1769, 18, 133), // deprecatedTopology
    f(3976, 9, 130), // targetRef
    // 306: Ingress.spec.defaultBackend
    f(1306, 8, 130), // resource
    f(4306, 7, 344), // service
    // 310: PodDisruptionBudget.spec.selector
    f(3593, 11, 133), // matchLabels
    // 313: ResourceClaim.spec.devices
    f(2641, 6, 312), // config
    f(4099, 8, 349), // requests
    // 314: ResourceClaim.status.allocation
    f(4208, 7, 350), // devices
    f(2081, 12, 319), // nodeSelector
    // 317: ResourceClaim.spec.devices
    f(2641, 6, 312), // config
    f(4099, 8, 352), // requests
    // 319: ResourceSlice.spec.nodeSelector
    f(2081, 17, 162), // nodeSelectorTerms
    // 322: CompositePodGroup.spec.disruptionMode
    f(750, 3, 166), // all
    f(4421, 6, 166), // single
    // 323: CompositePodGroup.spec.schedulingPolicy
    f(4454, 5, 166), // basic
    // 326: VolumeAttachment.spec.source
    f(2377, 16, 145), // inlineVolumeSpec
    // 327: Binding.metadata.managedFields[]
    f(4043, 8, 166), // fieldsV1
    // 329: LimitRange.spec.limits[]
    f(2890, 7, 133), // default
    f(2904, 14, 133), // defaultRequest
    f(1447, 3, 133), // max
    f(1447, 20, 133), // maxLimitRequestRatio
    f(1100, 3, 133), // min
    // 331: Pod.spec.affinity.nodeAffinity
    f(0, 47, 358), // preferredDuringSchedulingIgnoredDuringExecution
    f(47, 46, 319), // requiredDuringSchedulingIgnoredDuringExecution
    // 332: Pod.spec.affinity.podAffinity
    f(0, 47, 359), // preferredDuringSchedulingIgnoredDuringExecution
    f(47, 46, 360), // requiredDuringSchedulingIgnoredDuringExecution
    // 333: Pod.spec.containers[]
    f(4551, 3, 361), // env
    f(4489, 5, 362), // ports
    f(3417, 9, 281), // resources
    f(1841, 18, 363), // restartPolicyRules
    f(3281, 13, 364), // volumeDevices
    f(3438, 12, 365), // volumeMounts
    // 335: Pod.spec.topologySpreadConstraints[]
    f(3216, 13, 257), // labelSelector
    // 336: Pod.spec.volumes[]
    f(4361, 6, 270), // cephfs
    f(4367, 6, 270), // cinder
    f(4471, 3, 366), // csi
    f(3560, 11, 367), // downwardAPI
    f(599, 9, 368), // ephemeral
    f(3769, 10, 272), // flexVolume
    f(4469, 5, 270), // iscsi
    f(3931, 9, 369), // projected
    f(4554, 3, 270), // rbd
    f(4292, 7, 270), // scaleIO
    f(3958, 9, 270), // storageos
    // 337: Pod.status.containerStatuses[]
    f(924, 18, 133), // allocatedResources
    f(924, 24, 370), // allocatedResourcesStatus
    f(3417, 9, 281), // resources
    f(3438, 12, 371), // volumeMounts
    // 338: Pod.status.nodeAllocatableResourceClaimStatuses[]
    f(3719, 10, 294), // containers
    f(4250, 7, 282), // mapping
    f(4059, 8, 282), // overhead
    // 339: CustomResourceDefinition.spec.versions[]
    f(4188, 6, 372), // schema
    f(3414, 12, 373), // subresources
    // 340: HorizontalPodAutoscaler.spec.metrics[]
    f(4027, 8, 374), // external
    f(2988, 6, 374), // object
    f(4528, 4, 374), // pods
    // 342: FlowSchema.spec.rules[]
    f(2425, 16, 376), // nonResourceRules
    f(3242, 13, 377), // resourceRules
    // 343: StorageVersion.status.storageVersions[]
    f(2030, 17, 294), // decodableVersions
    f(3044, 14, 294), // servedVersions
    // 344: Ingress.spec.defaultBackend.service
    f(4489, 4, 130), // port
    // 345: Ingress.spec.rules[]
    f(4524, 4, 378), // http
    // 346: NetworkPolicy.spec.egress[]
    f(385, 2, 379), // to
    // 347: NetworkPolicy.spec.ingress[]
    f(4516, 4, 379), // from
    // 348: DeviceClass.spec.config[]
    f(4403, 6, 380), // opaque
    // 350: ResourceClaim.status.allocation.devices
    f(2641, 6, 312), // config
    f(4278, 7, 382), // results
    // 351: ResourceClaim.status.devices[]
    f(3709, 10, 293), // conditions
    f(1747, 4, 166), // data
    // 353: ResourceSlice.spec.devices[]
    f(3689, 10, 133), // attributes
    f(4011, 8, 133), // capacity
    f(2313, 16, 320), // consumesCounters
    f(948, 24, 133), // nodeAllocatableResources
    f(2081, 12, 319), // nodeSelector
    // 354: ResourceSlice.spec.sharedCounters[]
    f(4019, 8, 133), // counters
    // 355: ResourceSlice.spec.devices[]
    f(4454, 5, 353), // basic
    // 356: Workload.spec.compositePodGroupTemplates[]
    f(547, 26, 324), // compositePodGroupTemplates
    f(2918, 14, 322), // disruptionMode
    f(2132, 17, 325), // podGroupTemplates
    f(2473, 16, 323), // schedulingPolicy
    // 357: Endpoints.subsets[].addresses[]
    f(3976, 9, 130), // targetRef
    // 366: Pod.spec.volumes[].csi
    f(1467, 20, 130), // nodePublishSecretRef
    f(2505, 16, 133), // volumeAttributes
    // 367: Pod.spec.volumes[].downwardAPI
    f(4474, 5, 390), // items
    // 368: Pod.spec.volumes[].ephemeral
    f(1487, 19, 391), // volumeClaimTemplate
    // 369: Pod.spec.volumes[].projected
    f(935, 7, 392), // sources
    // 372: CustomResourceDefinition.spec.versions[].schema
    f(2686, 15, 394), // openAPIV3Schema
    // 373: CustomResourceDefinition.spec.versions[].subresources
    f(4427, 6, 166), // status
    // 374: HorizontalPodAutoscaler.spec.metrics[].external
    f(4257, 6, 395), // metric
    // 375: Job.spec.podFailurePolicy.rules[]
    f(3615, 11, 396), // onExitCodes
    // 378: Ingress.spec.rules[].http
    f(4484, 5, 399), // paths
    // 380: DeviceClass.spec.config[].opaque
    f(3789, 10, 166), // parameters
    // 381: ResourceClaim.spec.devices.requests[]
    f(4222, 7, 401), // exactly
    f(2932, 14, 402), // firstAvailable
    // 383: ResourceClaim.spec.devices.requests[]
    f(4011, 8, 404), // capacity
    f(2932, 14, 402), // firstAvailable
    // 384: Pod.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[]
    f(3799, 10, 130), // preference
    // 385: Pod.spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[]
    f(2716, 15, 386), // podAffinityTerm
    // 386: Pod.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[]
    f(3216, 13, 257), // labelSelector
    f(2047, 17, 257), // namespaceSelector
    // 387: Pod.spec.containers[].env[]
    f(3985, 9, 405), // valueFrom
    // 388: Pod.spec.containers[].restartPolicyRules[]
    f(3904, 9, 396), // exitCodes
    // 389: Pod.spec.containers[].volumeMounts[]
    f(2281, 16, 294), // bindMountOptions
    // 391: Pod.spec.volumes[].ephemeral.volumeClaimTemplate
    f(4051, 8, 129), // metadata
    f(4536, 4, 146), // spec
    // 393: Pod.status.containerStatuses[].allocatedResourcesStatus[]
    f(3417, 9, 408), // resources
    // 394: CustomResourceDefinition.spec.versions[].schema.openAPIV3Schema
    f(4504, 4, 0), // $ref
    f(4187, 7, 0), // $schema
    f(2611, 15, 166), // additionalItems
    f(1367, 20, 166), // additionalProperties
    f(4444, 5, 409), // allOf
    f(4449, 5, 409), // anyOf
    f(2890, 7, 166), // default
    f(3549, 11, 410), // definitions
    f(3354, 12, 411), // dependencies
    f(4512, 4, 412), // enum
    f(4229, 7, 166), // example
    f(4474, 5, 166), // items
    f(891, 3, 394), // not
    f(4479, 5, 409), // oneOf
    f(2115, 17, 410), // patternProperties
    f(3809, 10, 410), // properties
    f(972, 24, 413), // x-kubernetes-validations
    // 395: HorizontalPodAutoscaler.spec.metrics[].external.metric
    f(4107, 8, 257), // selector
    // 396: Job.spec.podFailurePolicy.rules[].onExitCodes
    f(4433, 6, 294), // values
    // 397: FlowSchema.spec.rules[].nonResourceRules[]
    f(2671, 15, 294), // nonResourceURLs
    f(4499, 5, 294), // verbs
    // 398: FlowSchema.spec.rules[].resourceRules[]
    f(3886, 9, 294), // apiGroups
    f(3779, 10, 294), // namespaces
    f(3417, 9, 294), // resources
    f(4499, 5, 294), // verbs
    // 400: NetworkPolicy.spec.egress[].to[]
    f(2047, 17, 257), // namespaceSelector
    f(3626, 11, 257), // podSelector
    // 401: ResourceClaim.spec.devices.requests[].exactly
    f(4011, 8, 404), // capacity
    // 403: ResourceClaim.status.allocation.devices.results[]
    f(2297, 16, 133), // consumedCapacity
    f(1859, 18, 294), // skipNodeOperations
    // 404: ResourceClaim.spec.devices.requests[].capacity
    f(4099, 8, 133), // requests
    // 405: Pod.spec.containers[].env[].valueFrom
    f(2641, 15, 130), // configMapKeyRef
    f(4035, 8, 130), // fieldRef
    f(3749, 10, 130), // fileKeyRef
    f(2457, 16, 130), // resourceFieldRef
    f(3402, 12, 130), // secretKeyRef
    // 406: Pod.spec.volumes[].downwardAPI.items[]
    f(4035, 8, 130), // fieldRef
    f(2457, 16, 130), // resourceFieldRef
    // 407: Pod.spec.volumes[].projected.sources[]
    f(1751, 18, 335), // clusterTrustBundle
    f(3560, 11, 367), // downwardAPI
    f(3002, 14, 415), // podCertificate
    // 414: Ingress.spec.rules[].http.paths[]
    f(4201, 7, 306), // backend
    // 415: Pod.spec.volumes[].projected.sources[].podCertificate
    f(2791, 15, 133), // userAnnotations
];

static KEYS: [KeyEntry; 22] = [
    e(3527, 11, KeyDefaultEntry::None), // apiServerID
    e(3177, 13, KeyDefaultEntry::None), // containerPort
    e(4091, 8, KeyDefaultEntry::String(r(4548, 3))), // protocol: TCP
    e(3739, 10, KeyDefaultEntry::None), // devicePath
    e(4215, 6, KeyDefaultEntry::None), // driver
    e(3739, 6, KeyDefaultEntry::None), // device
    e(4532, 4, KeyDefaultEntry::None), // pool
    e(4313, 7, KeyDefaultEntry::None), // shareID
    e(1861, 2, KeyDefaultEntry::None), // ip
    e(3913, 9, KeyDefaultEntry::None), // mountPath
    e(2047, 4, KeyDefaultEntry::None), // name
    e(4489, 4, KeyDefaultEntry::None), // port
    e(4091, 8, KeyDefaultEntry::String(r(4548, 3))), // protocol: TCP
    e(2149, 17, KeyDefaultEntry::None), // resourceClaimName
    e(3829, 10, KeyDefaultEntry::None), // resourceID
    e(4494, 4, KeyDefaultEntry::None), // rule
    e(4427, 6, KeyDefaultEntry::None), // status
    e(4415, 6, KeyDefaultEntry::None), // reason
    e(3648, 11, KeyDefaultEntry::None), // topologyKey
    e(2200, 17, KeyDefaultEntry::None), // whenUnsatisfiable
    e(4540, 4, KeyDefaultEntry::None), // type
    e(4557, 3, KeyDefaultEntry::None), // uid
];
