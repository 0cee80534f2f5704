// The auditor's trust roots: a C2SP policy whose comments may also name the keys of Baton's services.
import { batchKeyIdOf } from '../batch-statement.ts'
import { LedgerError } from '../ledger-error.ts'
import { readVerifierKey, SIGNATURE_TYPES } from '../note/key.ts'
import type { VerifierKey } from '../note/key.ts'
import { parsePolicy, policyItems, policyLines } from '../tlog/policy.ts'
import type { Policy } from '../tlog/policy.ts'

/** Comes from a file of the auditor's, never from what is verified. */
export interface AuditorPolicy {
  readonly log: Policy
  /** Public keys of append services, by the key id of batch signatures. */
  readonly batchKeys: ReadonlyMap<string, Uint8Array>
  /** Keys that sign manifests; empty when the auditor does not ask for that signature. */
  readonly exporters: readonly VerifierKey[]
}

export type ParsedAuditorPolicy =
  | { readonly ok: true; readonly policy: AuditorPolicy }
  | { readonly ok: false; readonly line: number; readonly message: string }

const DIRECTIVE = /^[ \t]*#[ \t]*baton-key\b(.*)$/

/**
 * Reads a policy file. Beside the lines of C2SP tlog-policy, which other tools read too, it takes
 * `# baton-key batch <vkey>` and `# baton-key exporter <vkey>`; the first wrong line is named.
 */
export function parseAuditorPolicy(bytes: Uint8Array): ParsedAuditorPolicy {
  const parsed = parsePolicy(bytes)
  if (!parsed.ok) return parsed
  const batchKeys = new Map<string, Uint8Array>()
  const exporters: VerifierKey[] = []
  for (const [at, line] of policyLines(bytes).entries()) {
    const directive = DIRECTIVE.exec(line)?.[1]
    if (directive === undefined) continue
    const [role, key] = readDirective(directive)
    if (key === undefined) {
      return { ok: false, line: at + 1, message: '# baton-key batch|exporter <vkey of type 0x01>' }
    }
    if (role === 'batch') batchKeys.set(batchKeyIdOf(key.publicKey), key.publicKey)
    else exporters.push(key)
  }
  return { ok: true, policy: { log: parsed.policy, batchKeys, exporters } }
}

function readDirective(text: string): [string, VerifierKey | undefined] {
  const [role = '', vkey = '', ...rest] = policyItems(text)
  if (!['batch', 'exporter'].includes(role) || rest.length > 0) return [role, undefined]
  try {
    const key = readVerifierKey(vkey)
    return [role, key.type === SIGNATURE_TYPES.ed25519 ? key : undefined]
  } catch (error) {
    if (error instanceof LedgerError) return [role, undefined]
    throw error
  }
}
