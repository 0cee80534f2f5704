// A sealer and a witness of their own beside an audit store, and a verifier that trusts them.
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCoveredSizes, readFileAnchor, sealLogKeys, verifyChains } from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import { batchKeyId, createBatchSigner, shardOf } from '@baton/ledger'
import type { People } from '@baton/ledger'
import { eventually, PEOPLE, spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { randomUUID } from 'node:crypto'
import type { AuditFixture } from './audit-fixture.ts'

type Environment = Readonly<Record<string, string>>

interface VerifyOptions {
  /** Done when the anchor file is about to be read. */
  readonly whenAsked?: () => Promise<void>
  readonly people?: People | undefined
}

export interface Sealing {
  readonly folder: string
  readonly stateFile: string
  readonly anchorFile: string
  /** The sealer's private key: PKCS #8 DER in base64. */
  readonly sealKey: string
  /** What the auditor is told: SPKI DER in base64. */
  readonly publicKey: string
  startSealer(env?: Environment, args?: readonly string[]): Promise<ServiceProcess>
  /** Waits until every record that is there now is under a signed checkpoint. */
  sealed(): Promise<void>
  /** For the people of every test, unless others are given. */
  verify(options?: VerifyOptions): Promise<VerifyReport>
  /** `RULE@origin's last character:seq`, in order. */
  rules(): Promise<string[]>
  close(): Promise<void>
}

export const privateKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

/** SPKI DER in base64. */
export const publicHalf = (pkcs8: string): string =>
  createPublicKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' } as never)
    .export({ format: 'der', type: 'spki' })
    .toString('base64')

/** Random tasks of given shards: each chain gets the same number, so records have neighbours. */
export function taskOfShard(shard: number, shards: number): string {
  for (;;) {
    const taskId = randomUUID()
    if (shardOf(taskId, shards) === shard) return taskId
  }
}

export async function createSealing(fixture: AuditFixture): Promise<Sealing> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-seals-'))
  const sealKey = privateKey()
  const files = { state: join(folder, 'sealer.json'), anchor: join(folder, 'anchor.jsonl') }
  const batch = createBatchSigner(fixture.signingKey).publicKey
  const sealing = createBatchSigner(sealKey).publicKey
  const batchKeys = new Map([[batchKeyId(batch), batch]])
  const running: ServiceProcess[] = []
  const anchor = readFileAnchor(files.anchor, sealLogKeys(fixture.reader, sealing))
  const verify: Sealing['verify'] = (options = {}) => {
    const { whenAsked, people } = { people: PEOPLE.people, ...options }
    const latest = async () => {
      await whenAsked?.()
      return anchor.latest()
    }
    return fixture.guards.inPlace(() =>
      verifyChains({
        pool: fixture.reader,
        batchKeys,
        people,
        seals: { publicKey: sealing, anchors: [{ ...anchor, latest }] },
      }),
    )
  }
  return {
    folder,
    stateFile: files.state,
    anchorFile: files.anchor,
    sealKey,
    publicKey: publicHalf(sealKey),
    async startSealer(env = {}, args = []) {
      const service = await spawnService({
        main: 'services/sealer/src/main.ts',
        args,
        env: {
          BATON_AUDIT_SEALER_URL: fixture.urls.sealer,
          BATON_SEAL_SIGNING_KEY: sealKey,
          BATON_AUDIT_TRUSTED_KEYS: publicHalf(fixture.signingKey),
          BATON_SEALER_STATE_FILE: files.state,
          BATON_SEAL_ANCHOR_FILE: files.anchor,
          BATON_SEAL_EVERY_MS: '50',
          BATON_SEAL_ANCHOR_EVERY_MS: '0',
          BATON_TASK_MAP_EVERY_MS: '50',
          BATON_OPS_PORT: '0',
          ...env,
        },
        ...(env['BATON_TEST_READY'] === 'false' ? { ready: false as const } : {}),
      })
      running.push(service)
      return service
    },
    sealed: async () => {
      await eventually(
        async () => {
          const { heads, sealed } = await readCoveredSizes(fixture.reader, sealing)
          return heads.every(({ chain, size }) => sealed.get(chain)?.size === size)
        },
        { deadlineMs: 30_000, describe: () => running.map((one) => one.output()).join('\n') },
      )
    },
    verify,
    async rules() {
      const { findings } = await verify()
      return findings.map(({ origin, seq, rule }) => `${rule}@${origin.at(-1)}:${seq}`)
    },
    async close() {
      await Promise.all(running.map((service) => service.kill()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The port of metrics and health that a process has logged. */
export const opsUrl = (service: ServiceProcess): string =>
  `http://127.0.0.1:${/"event":"ops.listening".*?"port":(\d+)/.exec(service.output())?.[1]}`
