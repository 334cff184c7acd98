"""Published tests that cannot succeed against Garth, each with the reason, for docs/clients.md."""

# The reasons of several tests.
RESERVED = "a reserved address"
OWN_INTERFACES = "an instance with interfaces outside of configs"
NODEBALANCER = "a NodeBalancer"
RESIZE = "resizing an instance"
LABEL = "another message for an invalid label than the Terraform provider"
PLACEMENT = "placement groups"
VOLUME = "a volume"
LOCK = "a lock"
STACKSCRIPT = "a StackScript"
CUSTOM_IMAGE = "a custom image"
RDMA = "a VPC of the type `rdma`"
CUSTOM_RANGES = "a region with the capability Custom VPC IPv4 Ranges"
VOLUME_ENCRYPTION = "a region with the capability Block Storage Encryption"

# Tests of the Terraform provider that only fail because they create a firewall for their instances.
FIREWALL_ONLY = """
    TestAccDataSourceInstance_interfaceVPCIPv6 TestAccDataSourceInstances_basic TestAccDataSourceNetworkingIP_basic
    TestAccDataSourceVPCIPs_basic TestAccDataSourceVPCIPs_dualStack TestAccResourceInstance_VPCInterface
    TestAccResourceInstance_VPCPublicInterfacesAddRemoveSwap TestAccResourceInstance_authorizedUsers
    TestAccResourceInstance_basic_smoke TestAccResourceInstance_configInterfaceVPCIPv6
    TestAccResourceInstance_configInterfaces TestAccResourceInstance_configInterfacesNoReboot
    TestAccResourceInstance_configPair TestAccResourceInstance_configPairUpdate
    TestAccResourceInstance_interfaceGenerationLegacy TestAccResourceInstance_interfaceVPCIPv6
    TestAccResourceInstance_interfaces TestAccResourceInstance_tag TestAccResourceInstance_userData
    TestAccResourceInstance_validateAuthorizedKeys TestAccResourceNetworkingIP_ephemeral
""".split()

# Tests of the Terraform provider that create a firewall, and also need another feature that Garth does not have.
FIREWALL_AND = {
    "TestAccDataSourceInstanceNetworking_vpcDualStack": OWN_INTERFACES,
    "TestAccDataSourceInstances_explicitInterfaceGeneration": OWN_INTERFACES,
    "TestAccDataSourceVPCSubnet_nodebalancer": NODEBALANCER,
    "TestAccResourceInstance_interfaceGenerationLinode": OWN_INTERFACES,
    "TestAccResourceInstance_typeChangeDiskExplicit": RESIZE,
    "TestAccResourceInstance_typeChangeDiskImplicit": RESIZE,
    "TestAccResourceInstance_typeChangeNoDisks": RESIZE,
    "TestAccResourceNetworkingIP_reserved": RESERVED,
    "TestAccResourceNetworkingIP_reservedEphemeralReassignment": RESERVED,
    "TestAccResourceVPCSubnet_nodebalancer": NODEBALANCER,
}

# Tests of the Terraform provider that were run without their firewall, and still failed.
FAILED_WITHOUT_FIREWALL = {
    "TestAccDataSourceInstances_devicesExt": VOLUME,
    "TestAccDataSourceInstances_withBlockStorageEncryption": VOLUME_ENCRYPTION,
    "TestAccDataSourceInstances_withLock": LOCK,
    "TestAccDataSourceInstances_withPG": PLACEMENT,
    "TestAccInstanceSharedIPs_update": "an IPv6 range",
    "TestAccResourceInstance_diskConfigDevicesExt": VOLUME,
    "TestAccResourceInstance_diskRawResize": RESIZE,
    "TestAccResourceInstance_diskResizeAndExpanded": RESIZE,
    "TestAccResourceInstance_diskSlotReorder": RESIZE,
    "TestAccResourceInstance_disksAndConfigs": "the provider `hashicorp/http` from the public registry, which was not reachable",
    "TestAccResourceInstance_firewallOnCreation": "a firewall, and a region with the capability Cloud Firewall",
    "TestAccResourceInstance_fullDiskSwapUpsize": STACKSCRIPT,
    "TestAccResourceInstance_ipv4Sharing": "sharing addresses",
    "TestAccResourceInstance_pgAssignment": PLACEMENT,
    "TestAccResourceInstance_privateImage": CUSTOM_IMAGE,
    "TestAccResourceInstance_stackScriptDisk": STACKSCRIPT,
    "TestAccResourceInstance_stackScriptInstance": STACKSCRIPT,
    "TestAccResourceInstance_tagWithVolume": VOLUME,
    "TestAccResourceInstance_upsizeWithoutDisk": RESIZE,
    "TestAccResourceInstance_volumeAndConfig": VOLUME,
    "TestAccResourceInstance_vpu": "a type with a video processor",
    "TestAccResourceInstance_withDiskLinodeDownsize": RESIZE,
    "TestAccResourceInstance_withDiskLinodeUpsize": RESIZE,
    "TestAccResourceInstance_withLock": LOCK,
    "TestAccResourceInstance_withPG": PLACEMENT,
    "TestAccResourceNetworkingIPsAssign": RESERVED,
}

# Tests of the Terraform provider that create no firewall.
NO_FIREWALLS = {
    "TestAccDataSourceImage_replicate": CUSTOM_IMAGE,
    "TestAccDataSourceImages_basic_smoke": CUSTOM_IMAGE,
    "TestAccImage_basic": CUSTOM_IMAGE,
    "TestAccImage_replicate": CUSTOM_IMAGE,
    "TestAccImage_update": CUSTOM_IMAGE,
    "TestAccImage_uploadFile": CUSTOM_IMAGE,
    "TestAccDataSourceInstanceNetworking_basicwithReseved": RESERVED,
    "TestAccDataSourceNetworkingIP_filterReserved": RESERVED,
    "TestAccDataSourceNetworkingIP_list": RESERVED,
    "TestAccDataSourceRegion_basic": "a region with metrics of services",
    "TestAccResourceInstanceConfig_deviceBlockExt": VOLUME,
    "TestAccResourceInstanceConfig_rescueBooted": "rescue mode",
}

# Tests of linodego 1 and 2.
LINODEGO = {
    "TestAccountSettings_Get": "managed services and backups",
    "TestAccountSettings_Update": "a Longview subscription",
    "TestAccountTransfer_Get": "traffic that was used and billed",
    "TestIPAddress_GetFound_smoke": RESERVED,
    "TestIPAddress_Instance_Allocate": RESERVED,
    "TestIPAddress_Instance_Assign": "an IPv6 range",
    "TestIPAddress_Instance_ReserveIP_Assign": RESERVED,
    "TestIPAddress_Instance_Share": "sharing addresses",
    "TestIPAddress_Update": RESERVED,
    "TestInstance_AddReservedIPToInstance": RESERVED,
    "TestInstance_AddReservedIPToInstanceVariants": RESERVED,
    "TestInstance_Clone": "cloning an instance",
    "TestInstance_CreateWithAlreadyAssignedReservedIP": RESERVED,
    "TestInstance_CreateWithLinodeInterfaces": OWN_INTERFACES,
    "TestInstance_CreateWithMultipleIPAddresses": RESERVED,
    "TestInstance_CreateWithOwnedNonAssignedReservedIP": RESERVED,
    "TestInstance_CreateWithReservedIPAddress": RESERVED,
    "TestInstance_DeleteInstanceVariants": RESERVED,
    "TestInstance_Disk_ListMultiple": CUSTOM_IMAGE,
    "TestInstance_Migrate": "migrating an instance",
    "TestInstance_MigrateToPG": PLACEMENT,
    "TestInstance_Rebuild": "rebuilding an instance",
    "TestInstance_RebuildWithEncryption": "rebuilding an instance",
    "TestInstance_Resize": RESIZE,
    "TestInstance_withBlockStorageEncryption": VOLUME_ENCRYPTION,
    "TestInstance_withPG": PLACEMENT,
    "TestInstance_withVPU": "a type with a video processor",
    "TestNetworkTransferPrice_List": "prices of traffic",
    "TestRegions_blockStorageEncryption": VOLUME_ENCRYPTION,
    "TestRegions_customVPCIPv4Ranges": CUSTOM_RANGES,
    "TestRegions_kubernetesEnterprise": "a region with the capability Kubernetes Enterprise",
    "TestRegions_pgLimits": PLACEMENT,
    "TestTag_CreateTagWithReservedIP": RESERVED,
    "TestVPC_Create_Invalid_data": LABEL,
    "TestVPC_IPv4Ranges": CUSTOM_RANGES,
    "TestVPC_Subnet_Create_Invalid_data": LABEL,
    "TestVPC_Subnet_Update_Invalid_data": LABEL,
    "TestVPC_Subnet_WithRDMAType": RDMA,
    "TestVPC_Update_Invalid_data": LABEL,
    "TestVPC_WithRDMAType": RDMA,
}
