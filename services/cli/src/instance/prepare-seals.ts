// What sealer and witness of an instance need on disk, and what each of them is told.
import { mkdir, writeFile } from 'node:fs/promises'
import { createPool, readHeads } from '@baton/audit'
import { createCosigner, createNoteSigner, formatVerifierKey, sealLogOrigin } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Environment } from '../context.ts'
import type { Databases } from './databases.ts'
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
  const policy = [
    `log ${formatVerifierKey(log)}`,
    `witness own ${formatVerifierKey(witness)} ${url}`,
    'quorum own',
    '',
  ]
  await writeFile(files.policy, policy.join('\n'), { mode: 0o600 })
  const batchKey = publicHalf(secrets.BATON_AUDIT_SIGNING_KEY)
  const trusted = [batchKey, ...(parts.trustedKeys ?? '').split(',').filter((key) => key !== '')]
  return {
    auditor: { BATON_SEAL_PUBLIC_KEY: publicHalf(sealKeys.sealing) },
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
