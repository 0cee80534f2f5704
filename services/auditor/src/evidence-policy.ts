// The policy that goes into bundles: the one of a file, or one that names this installation's own keys.
import { readHeads, sealLogKeys } from '@baton/audit'
import type { Pool } from '@baton/audit'
import {
  entryOfKey,
  formatVerifierKey,
  parseAuditorPolicy,
  sealLogOrigin,
  SIGNATURE_TYPES,
  verifierKey,
} from '@baton/ledger'
import type { NoteSigner, People } from '@baton/ledger'
import { permanent, readRegularFile } from '@baton/runtime'
import type { KeyObject } from 'node:crypto'
import type { EvidencePolicy } from './evidence.ts'

interface PolicySources {
  readonly file: string | undefined
  readonly reader: Pool
  readonly sealKey: KeyObject | undefined
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly exporter: NoteSigner | undefined
  /** Whose decisions count. */
  readonly people: People
}

/** Throws BATON_EVIDENCE_POLICY_INVALID when the file is missing or is no policy. */
export async function readEvidencePolicy(sources: PolicySources): Promise<EvidencePolicy> {
  const { file } = sources
  const text = file === undefined ? await ownPolicy(sources) : await readText(file)
  const parsed = parseAuditorPolicy(Buffer.from(text))
  if (parsed.ok) return { text, trust: parsed.policy }
  throw invalid(`${file ?? 'the own policy'}, line ${parsed.line}: ${parsed.message}`)
}

async function ownPolicy(sources: PolicySources): Promise<string> {
  const { reader, sealKey, batchKeys, exporter, people } = sources
  const heads = await readHeads(reader)
  const origin = sealLogOrigin(heads[0]?.origin ?? '')
  const { publicKeys, handovers } = sealKey
    ? (await sealLogKeys(reader, sealKey)()).keys
    : { publicKeys: [], handovers: [] }
  const inForce = publicKeys.at(-1)
  const log = inForce === undefined ? [] : [`log ${vkeyOf(origin, inForce)}`]
  const retired = handovers.map(
    ({ from, seq }) => `# baton-key retired ${formatVerifierKey(from)} ${seq + 1}`,
  )
  const batch = [...batchKeys.values()].map((key) => {
    const raw = Uint8Array.from(key.export({ format: 'der', type: 'spki' }).subarray(-32))
    return `# baton-key batch ${vkeyOf(origin.replace(/seals$/, 'append'), raw)}`
  })
  const exporters =
    exporter === undefined ? [] : [`# baton-key exporter ${formatVerifierKey(exporter.key)}`]
  const persons = [...people.values()].map((key) => `# baton-person ${entryOfKey(key)}`)
  const chains = heads.flatMap((head) =>
    inForce === undefined ? [] : [`# baton-chain ${vkeyOf(head.origin, inForce)}`],
  )
  const keys = [...retired, ...batch, ...exporters, ...persons, ...chains]
  return [...log, 'quorum none', ...keys, ''].join('\n')
}

const vkeyOf = (name: string, key: Uint8Array): string =>
  formatVerifierKey(verifierKey(name, SIGNATURE_TYPES.ed25519, key))

async function readText(file: string): Promise<string> {
  try {
    return (await readRegularFile(file)).toString()
  } catch {
    throw invalid(`${file} cannot be read`)
  }
}

const invalid = (message: string) =>
  permanent('BATON_EVIDENCE_POLICY_INVALID', message, {
    fix: 'Name a C2SP tlog-policy file in BATON_EVIDENCE_POLICY_FILE, or leave it out.',
  })
