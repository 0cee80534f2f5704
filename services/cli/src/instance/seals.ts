// What the sealer and the witness of an instance keep on disk, and the policy that names them.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createPool, readHeads } from '@baton/audit'
import {
  createCosigner,
  createNoteSigner,
  entryOfKey,
  formatVerifierKey,
  sealLogOrigin,
  SIGNATURE_TYPES,
  verifierKey,
} from '@baton/ledger'
import type { People } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Databases } from './databases.ts'
import { sealFiles } from './seal-files.ts'

/** Whether nothing of this instance has been sealed yet, so that its witness has nothing to remember. */
export const isFirstSeal = (home: string): boolean => {
  const { state, anchor } = sealFiles(home)
  return !existsSync(state) && !existsSync(anchor)
}

/** SPKI DER in base64: what everybody may know of a private key. */
export function publicHalf(pkcs8: string): string {
  const key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')
}

/** Who seals an instance's log and who watches, as their settings have it. */
export interface SealLog {
  readonly witnessName: string
  /** The sealer's, as a C2SP verifier key. */
  readonly verifierKey: string
  /** Public keys that batches may be signed with, the one of now first. */
  readonly batchKeys: readonly string[]
}

interface Parts {
  readonly home: string
  readonly databases: Databases
  readonly witnessUrl: string
  /** Public keys that batches were signed with earlier, as settings have them. */
  readonly trustedKeys: string | undefined
  /** Whose decisions count. */
  readonly people: People
  /** One that others run, in place of the own one. */
  readonly otherWitness?: { readonly verifierKey: string; readonly url: string } | undefined
}

/** Writes the policy that names the instance's own witness where it listens now, and its people. */
export async function prepareSeals(parts: Parts): Promise<SealLog> {
  const { home, databases, witnessUrl, trustedKeys = '', people, otherWitness } = parts
  const { seals, evidence, development } = databases.keys
  const files = sealFiles(home)
  await mkdir(files.folder, { recursive: true, mode: 0o700 })
  const chains = await chainOrigins(databases)
  const origin = sealLogOrigin(chains[0] ?? '')
  const named = (role: string) => origin.replace(/seals$/, role)
  const log = formatVerifierKey(createNoteSigner({ name: origin, pkcs8: seals.sealing }).key)
  const witnessName = named('witness')
  const witness = createCosigner({ name: witnessName, pkcs8: seals.witnessing }).key
  const exporter = createNoteSigner({ name: named('evidence'), pkcs8: evidence.exporting }).key
  const earlier = trustedKeys.split(',').filter((key) => key !== '')
  const batchKeys = [publicHalf(development.BATON_AUDIT_SIGNING_KEY), ...earlier]
  const policy = [
    `log ${log}`,
    `witness own ${otherWitness?.verifierKey ?? formatVerifierKey(witness)} ${otherWitness?.url ?? witnessUrl}`,
    'quorum own',
    // Comments for tools that know only C2SP tlog-policy: who appends, who exports evidence, and who decides.
    ...batchKeys.map((key) => `# baton-key batch ${appenderKey(named('append'), key)}`),
    `# baton-key exporter ${formatVerifierKey(exporter)}`,
    ...[...people.values()].map((key) => `# baton-person ${entryOfKey(key)}`),
    // The signed tree heads of chains, for tools that read one by its tiles: the sealer's key under the name of each.
    ...chains.map((name) => `# baton-chain ${sealerKeyUnder(name, seals.sealing)}`),
    '',
  ]
  await writeFile(files.policy, policy.join('\n'), { mode: 0o600 })
  return { witnessName, verifierKey: log, batchKeys }
}

function appenderKey(name: string, spki: string): string {
  const raw = Uint8Array.from(Buffer.from(spki, 'base64').subarray(-32))
  return formatVerifierKey(verifierKey(name, SIGNATURE_TYPES.ed25519, raw))
}

const sealerKeyUnder = (name: string, pkcs8: string): string =>
  formatVerifierKey(createNoteSigner({ name, pkcs8 }).key)

async function chainOrigins({ urls }: Databases): Promise<readonly string[]> {
  const pool = createPool({ url: urls.auditReader, applicationName: 'baton-cli' })
  try {
    const heads = await readHeads(pool)
    if (heads.length > 0) return heads.map(({ origin }) => origin)
  } finally {
    await pool.end()
  }
  throw permanent('BATON_AUDIT_CHAINS_MISSING', 'the audit database holds no chain', {
    fix: 'Run `baton migrate`; if chains existed before, treat this as tampering.',
  })
}
