// What sealer and witness of an instance need on disk, and what each of them is told.
import { mkdir, writeFile } from 'node:fs/promises'
import { createPool, readHeads } from '@baton/audit'
import {
  createCosigner,
  createNoteSigner,
  formatVerifierKey,
  sealLogOrigin,
  SIGNATURE_TYPES,
  verifierKey,
} from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Environment } from '../context.ts'
import type { Databases } from './databases.ts'
import { ensureEvidenceKeys } from './evidence-keys.ts'
import type { EvidenceKeys } from './evidence-keys.ts'
import { publicHalf, sealFiles } from './seal-keys.ts'
import type { Ports } from './service-settings.ts'

/** Settings by service. */
export interface SealSettings {
  readonly sealer: Environment
  readonly witness: Environment
  /** What the auditor is told. */
  readonly auditor: Environment
}

interface Parts {
  readonly home: string
  readonly databases: Databases
  readonly ports: Ports
  /** Public keys that batches were signed with earlier, as settings have them. */
  readonly trustedKeys: string | undefined
}

/** Writes the policy that names the instance's own witness where it listens now. */
export async function prepareSeals(parts: Parts): Promise<SealSettings> {
  const { home, databases, ports } = parts
  const { sealKeys, secrets, urls } = databases
  const files = sealFiles(home)
  await mkdir(files.folder, { recursive: true, mode: 0o700 })
  const origin = await logOrigin(databases)
  const log = createNoteSigner({ name: origin, pkcs8: sealKeys.sealing }).key
  const name = origin.replace(/seals$/, 'witness')
  const witness = createCosigner({ name, pkcs8: sealKeys.witnessing }).key
  const url = `http://127.0.0.1:${ports.witness}`
  const batchKey = publicHalf(secrets.BATON_AUDIT_SIGNING_KEY)
  const trusted = [batchKey, ...(parts.trustedKeys ?? '').split(',').filter((key) => key !== '')]
  const evidence = await ensureEvidenceKeys(home)
  const policy = [
    `log ${formatVerifierKey(log)}`,
    `witness own ${formatVerifierKey(witness)} ${url}`,
    'quorum own',
    ...serviceKeys({ origin, trusted, evidence }),
    '',
  ]
  await writeFile(files.policy, policy.join('\n'), { mode: 0o600 })
  return {
    auditor: {
      BATON_SEAL_PUBLIC_KEY: publicHalf(sealKeys.sealing),
      BATON_AUDIT_EVIDENCE_TOKEN: evidence.evidenceToken,
      BATON_AUDIT_PAYLOAD_TOKEN: evidence.payloadToken,
      BATON_EVIDENCE_SIGNING_KEY: evidence.exporting,
      BATON_EVIDENCE_POLICY_FILE: files.policy,
    },
    sealer: {
      BATON_AUDIT_SEALER_URL: urls.auditSealer,
      BATON_SEAL_SIGNING_KEY: sealKeys.sealing,
      BATON_AUDIT_TRUSTED_KEYS: trusted.join(','),
      BATON_SEALER_STATE_FILE: files.state,
      BATON_SEAL_ANCHOR_FILE: files.anchor,
      BATON_SEAL_POLICY_FILE: files.policy,
      BATON_OPS_PORT: '0',
    },
    witness: {
      BATON_WITNESS_NAME: name,
      BATON_WITNESS_SIGNING_KEY: sealKeys.witnessing,
      BATON_WITNESS_LOGS: formatVerifierKey(log),
      BATON_WITNESS_STATE_FILE: files.witnessState,
      BATON_WITNESS_PORT: String(ports.witness),
    },
  }
}

/** Comments for tools that know only C2SP tlog-policy: who appends, and who exports evidence. */
function serviceKeys({
  origin,
  trusted,
  evidence,
}: {
  readonly origin: string
  readonly trusted: readonly string[]
  readonly evidence: EvidenceKeys
}): string[] {
  const name = (role: string) => origin.replace(/seals$/, role)
  const exporter = createNoteSigner({ name: name('evidence'), pkcs8: evidence.exporting }).key
  const batch = trusted.map((key) => {
    const raw = Uint8Array.from(Buffer.from(key, 'base64').subarray(-32))
    return formatVerifierKey(verifierKey(name('append'), SIGNATURE_TYPES.ed25519, raw))
  })
  return [
    ...batch.map((key) => `# baton-key batch ${key}`),
    `# baton-key exporter ${formatVerifierKey(exporter)}`,
  ]
}

async function logOrigin({ urls }: Databases): Promise<string> {
  const pool = createPool({ url: urls.auditReader, applicationName: 'baton-cli' })
  try {
    const origin = (await readHeads(pool))[0]?.origin
    if (origin !== undefined) return sealLogOrigin(origin)
  } finally {
    await pool.end()
  }
  throw permanent('BATON_AUDIT_CHAINS_MISSING', 'the audit database holds no chain', {
    fix: 'Run `baton migrate`; if chains existed before, treat this as tampering.',
  })
}
