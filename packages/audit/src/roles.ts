// The roles of the audit databases: whose rights are described, and whose commits must reach the disk.

/** By the schema that they have rights in. */
export const ROLES = {
  audit: [
    'audit_owner',
    'audit_writer',
    'audit_reader',
    'audit_sealer',
    'audit_archiver',
    'audit_eraser',
  ],
  vault: ['audit_owner', 'vault_keeper'],
} as const satisfies Readonly<Record<string, readonly string[]>>

const ALL: readonly string[] = [...new Set([...ROLES.audit, ...ROLES.vault])]

/** All but the one that only reads. */
export const WRITING_ROLES = ALL.filter((role) => role !== 'audit_reader')
