// The policy that goes into bundles: the one of a file, or one that names this installation's own keys.
import { readFile } from 'node:fs/promises'
import { readHeads, sealerKey } from '@baton/audit'
import type { Pool } from '@baton/audit'
import {
  formatVerifierKey,
  parseAuditorPolicy,
  sealLogOrigin,
  SIGNATURE_TYPES,
  verifierKey,
} from '@baton/ledger'
import type { NoteSigner } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { KeyObject } from 'node:crypto'
import type { EvidencePolicy } from './evidence.ts'

interface PolicySources {
  readonly file: string | undefined
  readonly reader: Pool
  readonly sealKey: KeyObject | undefined
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly exporter: NoteSigner | undefined
}

/** Throws BATON_EVIDENCE_POLICY_INVALID when the file is missing or is no policy. */
export async function readEvidencePolicy(sources: PolicySources): Promise<EvidencePolicy> {
  const { file } = sources
  const text = file === undefined ? await ownPolicy(sources) : await readText(file)
  const parsed = parseAuditorPolicy(Buffer.from(text))
  if (parsed.ok) return { text, trust: parsed.policy }
  throw invalid(`${file ?? 'the own policy'}, line ${parsed.line}: ${parsed.message}`)
}

async function ownPolicy({ reader, sealKey, batchKeys, exporter }: PolicySources): Promise<string> {
  const heads = await readHeads(reader)
  const origin = sealLogOrigin(heads[0]?.origin ?? '')
  const log = sealKey === undefined ? [] : [`log ${formatVerifierKey(sealerKey(origin, sealKey))}`]
  const batch = [...batchKeys.values()].map((key) => {
    const raw = Uint8Array.from(key.export({ format: 'der', type: 'spki' }).subarray(-32))
    const name = origin.replace(/seals$/, 'append')
    const vkey = formatVerifierKey(verifierKey(name, SIGNATURE_TYPES.ed25519, raw))
    return `# baton-key batch ${vkey}`
  })
  const exporters =
    exporter === undefined ? [] : [`# baton-key exporter ${formatVerifierKey(exporter.key)}`]
  const chains = heads.flatMap((head) =>
    sealKey === undefined
      ? []
      : [`# baton-chain ${formatVerifierKey(sealerKey(head.origin, sealKey))}`],
  )
  return [...log, 'quorum none', ...batch, ...exporters, ...chains, ''].join('\n')
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    throw invalid(`${file} cannot be read`)
  }
}

const invalid = (message: string) =>
  permanent('BATON_EVIDENCE_POLICY_INVALID', message, {
    fix: 'Name a C2SP tlog-policy file in BATON_EVIDENCE_POLICY_FILE, or leave it out.',
  })
