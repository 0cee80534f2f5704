// What a sealer, a witness and an archiver are told, and what the auditor then knows of them: real keys, real files.
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPool, readHeads } from '@baton/audit'
import type { AuditUrls } from '@baton/audit'
import { createCosigner, createNoteSigner, formatVerifierKey, sealLogOrigin } from '@baton/ledger'

type Environment = Readonly<Record<string, string>>

/** Where the keepers of the log write, all of it outside the database. */
export interface LedgerFiles {
  readonly stateFile: string
  readonly anchorFile: string
  readonly witnessStateFile: string
  readonly coldFolder: string
}

export interface LedgerServices {
  readonly files: LedgerFiles
  readonly environments: Readonly<Record<'sealer' | 'witness' | 'archiver', Environment>>
  /** Added to the auditor's environment. */
  readonly auditor: Environment
  /** Public keys: SPKI DER in base64. */
  readonly keys: { readonly seal: string; readonly batch: string }
}

interface LedgerOptions {
  /** Of the test; whoever made it deletes it. */
  readonly folder: string
  readonly urls: AuditUrls
  readonly auditorUrl: string
  /** The auditor's key that signs batches: PKCS #8 DER in base64. */
  readonly batchKey: string
  readonly witnessPort: number
}

/** Makes the keys, writes the policy that names the witness, and starts nothing. */
export async function prepareLedgerServices(options: LedgerOptions): Promise<LedgerServices> {
  const { folder, urls, auditorUrl, witnessPort } = options
  await mkdir(folder, { recursive: true })
  const files = {
    stateFile: join(folder, 'sealer.json'),
    anchorFile: join(folder, 'anchor.jsonl'),
    witnessStateFile: join(folder, 'witness.json'),
    coldFolder: join(folder, 'cold'),
  }
  const policyFile = join(folder, 'policy')
  const archiveToken = randomBytes(24).toString('hex')
  const [sealing, witnessing] = [privateKey(), privateKey()]
  const keys = { seal: publicHalf(sealing), batch: publicHalf(options.batchKey) }
  const origin = await sealOrigin(urls)
  const log = formatVerifierKey(createNoteSigner({ name: origin, pkcs8: sealing }).key)
  const name = origin.replace(/seals$/, 'witness')
  const witness = formatVerifierKey(createCosigner({ name, pkcs8: witnessing }).key)
  const url = `http://127.0.0.1:${witnessPort}`
  await writeFile(policyFile, `log ${log}\nwitness own ${witness} ${url}\nquorum own\n`)
  return {
    files,
    keys,
    auditor: {
      BATON_SEAL_PUBLIC_KEY: keys.seal,
      BATON_COLD_FOLDER: files.coldFolder,
      BATON_AUDIT_ARCHIVE_TOKEN: archiveToken,
    },
    environments: {
      sealer: {
        BATON_AUDIT_SEALER_URL: urls.sealer,
        BATON_SEAL_SIGNING_KEY: sealing,
        BATON_AUDIT_TRUSTED_KEYS: keys.batch,
        BATON_SEALER_STATE_FILE: files.stateFile,
        BATON_SEAL_ANCHOR_FILE: files.anchorFile,
        BATON_SEAL_POLICY_FILE: policyFile,
        BATON_OPS_PORT: '0',
      },
      witness: {
        BATON_WITNESS_NAME: name,
        BATON_WITNESS_SIGNING_KEY: witnessing,
        BATON_WITNESS_LOGS: log,
        BATON_WITNESS_STATE_FILE: files.witnessStateFile,
        BATON_WITNESS_FIRST_START: '1',
        BATON_WITNESS_PORT: String(witnessPort),
      },
      archiver: {
        BATON_AUDIT_ARCHIVER_URL: urls.archiver,
        BATON_SEAL_PUBLIC_KEY: keys.seal,
        BATON_AUDIT_URL: auditorUrl,
        BATON_AUDIT_ARCHIVE_TOKEN: archiveToken,
        BATON_COLD_FOLDER: files.coldFolder,
        BATON_SEAL_ANCHOR_FILE: files.anchorFile,
        BATON_SEAL_POLICY_FILE: policyFile,
        BATON_OPS_PORT: '0',
      },
    },
  }
}

const privateKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

const publicHalf = (pkcs8: string): string =>
  createPublicKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' } as never)
    .export({ format: 'der', type: 'spki' })
    .toString('base64')

/** The seal log is named after the chains, which the database was made with. */
async function sealOrigin(urls: AuditUrls): Promise<string> {
  const pool = createPool({ url: urls.reader, applicationName: 'testkit', connectionsMax: 1 })
  try {
    return sealLogOrigin((await readHeads(pool))[0]?.origin ?? '')
  } finally {
    await pool.end()
  }
}
