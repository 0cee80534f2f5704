// Every key is changed by the steps of infra/rotation.md while handoffs flow: nothing is lost or done twice, the log verifies, and it tells each change.
// In `npm run test-long`.
import { createHash, randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { VerifyReport } from '@baton/audit'
import { makeApiKey, withdrawApiKey } from '@baton/engine'
import { createApiKey, createGateway, parseApiKeys } from '@baton/gateway'
import type { Gateway } from '@baton/gateway'
import {
  createBatchSigner,
  createNoteSigner,
  formatVerifierKey,
  readVerifierKey,
} from '@baton/ledger'
import { createLogger } from '@baton/runtime'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, Sender } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { acquirePostgres, createSystem, eventually, isLong } from '@baton/testkit'
import type { ServiceName, ServiceProcess, System } from '@baton/testkit'
import { opsUrl, privateKey, publicHalf } from '../integration/audit-seals-fixture.ts'
import {
  answerJson,
  answerStatus,
  isSignedBy,
  openPushedAgent,
  pushSecret,
} from '../integration/pushed-agent.ts'
import type { PushedAgent } from '../integration/pushed-agent.ts'
import { newTask } from './driver.ts'
import { drained, violations } from './history.ts'

const GOES_ON_WITHIN_MS = 60_000
/** By each of the three ways. */
const SEND_EVERY_MS = 250
const REPEAT_AFTER_MS = 250
const MORE = 8

const bytes = (): string => randomBytes(32).toString('base64')
const token = (): string => randomBytes(24).toString('hex')
/** The old one and the new one of each. */
const pairOf = <Key>(make: () => Key) => ({ old: make(), next: make() })
const handoffKeys = pairOf(bytes)
const batch = pairOf(privateKey)
const evidence = pairOf(privateKey)
const witness = pairOf(privateKey)
const wrapping = pairOf(bytes)
const lookup = pairOf(bytes)
const appendToken = pairOf(token)
const readToken = pairOf(token)
const push = pairOf(pushSecret)
const apiKeys = pairOf(() => createApiKey({ scopes: 'handoffs:send', operator: 'caller' }))

const RINGS = {
  old: `k1:active:${handoffKeys.old}`,
  known: `k1:active:${handoffKeys.old},k2:verify-only:${handoffKeys.next}`,
  swapped: `k2:active:${handoffKeys.next},k1:verify-only:${handoffKeys.old}`,
  revoked: `k2:active:${handoffKeys.next},k1:revoked:${handoffKeys.old}`,
}

let folder = ''
let system: System
let pool: Pool
let endpoint: PushedAgent
let otherWitness: ServiceProcess
/** Of the sealer; PKCS #8 in base64. */
const seal = { old: '', next: privateKey() }
/** As policies name it. */
let logKey = ''
const services = new Map<ServiceName, ServiceProcess>()
const gateways: Gateway[] = []
const senders: Sender[] = []
const acknowledged: string[] = []
/** Codes and statuses of sends that failed, which were repeated. */
const failures: unknown[] = []
/** What the agent that is called believes. */
let believed = push.old
/** What the caller of the gateway has. */
let apiKey = apiKeys.old.key

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-rotation-'))
  endpoint = await openPushedAgent()
  endpoint.answer((response, pushed) => {
    if (!isSignedBy(believed, pushed)) return answerStatus(401)(response, pushed)
    const { handoffId, fencingToken, idempotencyKey, taskId } = pushed.body
    const line = { handoffId, taskId, fencingToken, key: idempotencyKey, at: Date.now() }
    appendFileSync(join(folder, 'effects.jsonl'), `${JSON.stringify(line)}\n`)
    const subtask = { subtaskId: 'called', description: 'was called', result: { fencingToken } }
    answerJson({ outcome: 'complete', subtask })(response, pushed)
  })
  await tellPushSecrets(push.old)
  const agent = { type: 'called', version: '1.0.0', url: endpoint.url, secretFile: 'secret' }
  const agents = [{ ...agent, operator: 'caller', allowPrivate: true }]
  await writeFile(join(folder, 'agents.json'), JSON.stringify({ agents }))
  const { adminUrl } = await acquirePostgres()
  system = await createSystem({
    purpose: 'key rotation',
    adminUrl,
    agents: './test/fault/ledger-agents.ts',
    ledgerFolder: join(folder, 'kept'),
    env: {
      BATON_TEST_LEDGER: join(folder, 'effects.jsonl'),
      BATON_PUSH_AGENTS: join(folder, 'agents.json'),
    },
  })
  pool = createPool({ url: system.adminUrls.store, applicationName: 'watch' })
  await keepApiKey(apiKeys.old)
  seal.old = system.environmentOf('sealer')['BATON_SEAL_SIGNING_KEY'] ?? ''
  logKey = system.environmentOf('witness')['BATON_WITNESS_LOGS'] ?? ''
  await start('witness', { BATON_WITNESS_SIGNING_KEY: witness.old, ...bothLogKeys() })
  await tellWitnesses(nameOf(services.get('witness'), 'own'))
  await start('sealer', { BATON_AUDIT_TRUSTED_KEYS: publicHalf(batch.old) })
  await start('auditor', {
    ...auditorKeys('old'),
    BATON_AUDIT_SIGNING_KEY: batch.old,
    BATON_AUDIT_WRAPPING_KEY: wrapping.old,
    BATON_AUDIT_LOOKUP_KEY: lookup.old,
  })
  await start('receiver', receiverKeys('old', 'old'))
  sendWith('old', 'old')
}, 90_000)
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  await Promise.all(senders.map((sender) => sender.close()))
  endpoint?.close()
  await pool?.end()
  await system?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** In the place of the one that runs, as somebody restarts it. */
async function start(name: ServiceName, env: Readonly<Record<string, string>>): Promise<void> {
  const code = await services.get(name)?.stop()
  expect(code ?? 0).toBe(0)
  services.set(name, await system.start(name, env))
}

/** A witness believes the next key of the log before the sealer hands over to it. */
const bothLogKeys = () => {
  const { key } = createNoteSigner({ name: logKey.split('+')[0] ?? '', pkcs8: seal.next })
  return { BATON_WITNESS_LOGS: `${logKey},${formatVerifierKey(key)}` }
}

/** One line of a policy: where it is called and with which key it signs, as it says itself. */
function nameOf(process: ServiceProcess | undefined, name: string): string {
  const [, url = '', key = ''] =
    /"url":"([^"]+)","key":"([^"]+)"/.exec(process?.output() ?? '') ?? []
  return `witness ${name} ${key} ${url}`
}

/** Of these any is enough. */
const tellWitnesses = (...lines: readonly string[]) =>
  writeFile(
    policyFile(),
    [
      `log ${logKey}`,
      ...lines,
      `group all any ${lines.map((line) => line.split(' ')[1]).join(' ')}`,
      'quorum all',
      '',
    ].join('\n'),
  )

const policyFile = (): string => system.environmentOf('sealer')['BATON_SEAL_POLICY_FILE'] ?? ''

/** As the auditor names it on record. */
function witnessId(process: ServiceProcess | undefined): string {
  const { name, keyId } = readVerifierKey(nameOf(process, 'any').split(' ')[2] ?? '')
  return `${name}+${keyId}`
}

type Side = 'old' | 'next'

const auditorKeys = (side: Side) => ({
  BATON_EVIDENCE_SIGNING_KEY: evidence[side],
  BATON_AUDIT_APPEND_TOKEN: appendToken[side],
  BATON_AUDIT_READ_TOKEN: readToken[side],
  BATON_COLD_FOLDER: '',
  BATON_SEAL_POLICY_FILE: policyFile(),
  BATON_SEAL_ANCHOR_FILE: system.ledger?.files.anchorFile ?? '',
})

const receiverKeys = (ring: keyof typeof RINGS, side: Side) => ({
  BATON_SIGNING_KEYS: RINGS[ring],
  BATON_AUDIT_APPEND_TOKEN: appendToken[side],
})

const tellPushSecrets = (...secrets: readonly string[]) =>
  writeFile(join(folder, 'secret'), secrets.join(','))

async function keepApiKey({ id, entry }: (typeof apiKeys)[Side]): Promise<void> {
  const { sha256 = Buffer.alloc(0) } = parseApiKeys(entry).get(id) ?? {}
  const owner = { operator: 'caller', tenant: 'default', madeBy: 'ann' }
  const key = { id, sha256, scopes: ['handoffs:send'], agents: null, expiresAt: null, ...owner }
  expect(await makeApiKey(pool, { actor: 'ann' }, key)).toBe(true)
}

/** From now on, senders and the gateway have these keys; what the earlier ones were sending, they send. */
function sendWith(ring: keyof typeof RINGS, side: Side): void {
  const keyRing = parseSigningKeys(RINGS[ring])
  senders.push(createSender({ databaseUrl: system.deliveryUrl, keyRing }))
  gateways.push(
    createGateway({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: system.databaseUrl,
      keyRing,
      attemptsMax: 3,
      correctionMs: 30_000,
      apiKeys: new Map(),
      audit: { url: system.auditorUrl, readToken: readToken[side] },
      limits: {
        rateMax: 100_000,
        runningMax: 64,
        connectionsMax: 64,
        connectionsPerAddressMax: 64,
        outboxMax: 50_000,
        outboxAgeMaxMs: 120_000,
      },
      metrics: createMetrics(),
      logger: createLogger({ service: 'gateway', destination: { write: () => undefined } }),
    }),
  )
}

const sentBySdk = (target: string) => async (task: AgentState) => {
  await senders.at(-1)?.send(task, target)
}

/** What a person is named in, so that the vault has rows to bring under other keys. */
const aboutSomebody = (): Pick<AgentState, 'personalData'> => {
  const subject = `person-${randomBytes(8).toString('hex')}`
  const payload = { '/currentState/name': { subject, value: 'a name' } }
  return { personalData: { dataSubjects: [subject], payload } }
}

async function sentByGateway(task: AgentState): Promise<void> {
  const { timestamp: _, ...agentState } = task
  const answer = await gateways.at(-1)?.server.inject({
    method: 'POST',
    url: '/v2/handoffs',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    payload: JSON.stringify({ agentState, targetAgentType: 'first', constraints: {} }),
  })
  if (answer?.statusCode !== 202) throw Object.assign(new Error('refused'), { code: answer?.body })
}

/** Sends evenly; one that fails is repeated with the same ids, as an application would. */
function startLoad() {
  const ways = [sentBySdk('first'), sentBySdk('called'), sentByGateway]
  const underWay = new Set<Promise<void>>()
  async function sendUntilConfirmed(task: AgentState, way: (typeof ways)[number]): Promise<void> {
    for (;;) {
      try {
        await way(task)
        return void acknowledged.push(task.handoffId as string)
      } catch (error) {
        failures.push((error as { code?: string }).code ?? error)
        await new Promise((resolve) => setTimeout(resolve, REPEAT_AFTER_MS))
      }
    }
  }
  const timer = setInterval(() => {
    for (const way of ways) {
      const task = { ...newTask(), ...aboutSomebody() }
      const sending = sendUntilConfirmed(task, way).finally(() => underWay.delete(sending))
      underWay.add(sending)
    }
  }, SEND_EVERY_MS)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}

const countHandoffs = async (where: string): Promise<number> => {
  const text = `select count(*)::integer as count from handoff where ${where}`
  return (await pool.query<{ count: number }>({ text })).rows[0]?.count ?? 0
}

async function goesOn(): Promise<void> {
  const before = await countHandoffs(`state = 'COMPLETED'`)
  await eventually(async () => (await countHandoffs(`state = 'COMPLETED'`)) > before + MORE, {
    deadlineMs: GOES_ON_WITHIN_MS,
    describe: () => `work goes on\n${services.get('receiver')?.output().slice(-4_000)}`,
  })
}

async function vaultRowsLeft(): Promise<number> {
  const auditor = services.get('auditor') as ServiceProcess
  const metrics = await (await fetch(`${opsUrl(auditor)}/metrics`)).text()
  const left = [...metrics.matchAll(/^baton_vault_rows_left\{key="\w+"\} (\d+)$/gm)]
  expect(left).toHaveLength(2)
  return left.reduce((sum, [, rows]) => sum + Number(rows), 0)
}

const idOf = (key: string): string =>
  createHash('sha256').update(Buffer.from(key, 'base64')).digest('hex').slice(0, 16)

it.runIf(isLong)(
  'every key changes under load: told, nothing lost, nothing repeated (needs npm run test-long)',
  async () => {
    const load = startLoad()
    await goesOn()

    // What is new is believed everywhere before anything is made with it.
    const trusted = [publicHalf(batch.old), publicHalf(batch.next)].join(',')
    otherWitness = await system.start('witness', {
      ...bothLogKeys(),
      BATON_WITNESS_NAME: 'other.example.com',
      BATON_WITNESS_SIGNING_KEY: witness.next,
      BATON_WITNESS_STATE_FILE: join(folder, 'other-witness.json'),
      BATON_WITNESS_PORT: '0',
    })
    await tellWitnesses(nameOf(services.get('witness'), 'own'), nameOf(otherWitness, 'other'))
    await start('sealer', {
      BATON_AUDIT_TRUSTED_KEYS: trusted,
      BATON_SEAL_SIGNING_KEY: `${seal.next},${seal.old}`,
    })
    await tellPushSecrets(push.next, push.old)
    await start('receiver', receiverKeys('known', 'old'))
    sendWith('known', 'old')
    await goesOn()

    // Now it is used.
    believed = push.next
    await keepApiKey(apiKeys.next)
    apiKey = apiKeys.next.key
    await withdrawApiKey(pool, { actor: 'ann' }, apiKeys.old.id)
    await start('auditor', {
      ...auditorKeys('next'),
      BATON_EVIDENCE_SIGNING_KEY: evidence.old,
      BATON_AUDIT_SIGNING_KEY: batch.next,
      BATON_AUDIT_TRUSTED_KEYS: publicHalf(batch.old),
      BATON_AUDIT_WRAPPING_KEY: `${wrapping.next},${wrapping.old}`,
      BATON_AUDIT_LOOKUP_KEY: `${lookup.next},${lookup.old}`,
    })
    await tellPushSecrets(push.next)
    await start('receiver', receiverKeys('swapped', 'next'))
    sendWith('swapped', 'next')
    await goesOn()

    // What is old is not needed any more, and goes.
    await eventually(
      async () =>
        (await countHandoffs(`key_id = 'k1' and ended_at is null`)) + (await vaultRowsLeft()) === 0,
      { deadlineMs: GOES_ON_WITHIN_MS, describe: 'nothing is under an old key' },
    )
    await tellWitnesses(nameOf(otherWitness, 'other'))
    await start('sealer', {
      BATON_AUDIT_TRUSTED_KEYS: trusted,
      BATON_SEAL_SIGNING_KEY: seal.next,
    })
    await start('auditor', {
      ...auditorKeys('next'),
      BATON_SEAL_PUBLIC_KEY: publicHalf(seal.next),
      BATON_AUDIT_SIGNING_KEY: batch.next,
      BATON_AUDIT_TRUSTED_KEYS: publicHalf(batch.old),
      BATON_AUDIT_WRAPPING_KEY: wrapping.next,
      BATON_AUDIT_LOOKUP_KEY: lookup.next,
    })
    await start('receiver', receiverKeys('revoked', 'next'))
    sendWith('revoked', 'next')
    await goesOn()
    await load.stop()
    expect(failures).toEqual([])

    const now = { ...system, tokens: { ...system.tokens, read: readToken.next } }
    await drained(now)
    const ledger = join(folder, 'effects.jsonl')
    expect(await violations(now, acknowledged, ledger)).toEqual([])
    const effects = readFileSync(ledger, 'utf8').trim().split('\n')
    const executed = effects.map((line) => (JSON.parse(line) as { handoffId: string }).handoffId)
    expect(new Set(executed).size).toBe(executed.length)
    expect(endpoint.pushed.filter((pushed) => isSignedBy(push.old, pushed)).length).toBeGreaterThan(
      0,
    )
    expect(await countHandoffs(`state <> 'COMPLETED'`)).toBe(0)
    expect(await countHandoffs(`key_id = 'k2'`)).toBeGreaterThan(MORE)

    await expectOldOnesRefused()
    const report = await eventually(
      async () => {
        const verified = await verify(readToken.next)
        return verified.verdict === 'verified' ? verified : undefined
      },
      {
        deadlineMs: GOES_ON_WITHIN_MS,
        describe: 'everything is sealed, and agrees with the anchor',
      },
    )
    expect(report.findings).toEqual([])
    expect(report.seals?.handovers).toHaveLength(1)
    const witnesses = [services.get('witness'), otherWitness].map(witnessId)
    const told = report.rotations.map(({ key, from, to, by }) => [key, by, ...from, ...to])
    expect(told.toSorted()).toEqual([
      ['batch', 'auditor', ...idsOf(batch, signerOf)],
      ['evidence', 'auditor', ...idsOf(evidence, signerOf)],
      ['handoff', 'receiver', 'k1', 'k2'],
      ['lookup', 'auditor', ...idsOf(lookup, idOf)],
      ['witness', 'auditor', ...witnesses.toSorted(), witnessId(otherWitness)],
      ['wrapping', 'auditor', ...idsOf(wrapping, idOf)],
    ])
  },
  240_000,
)

const signerOf = (key: string): string => createBatchSigner(key).keyId
const idsOf = <Key>({ old, next }: Readonly<Record<Side, Key>>, id: (key: Key) => string) => [
  id(old),
  id(next),
]

const verify = async (bearer: string): Promise<VerifyReport> => {
  const headers = { authorization: `Bearer ${bearer}` }
  return (await (await fetch(`${system.auditorUrl}/v1/verify`, { headers })).json()) as VerifyReport
}

/** Whoever still has one of them does nothing with it. */
async function expectOldOnesRefused(): Promise<void> {
  apiKey = apiKeys.old.key
  await eventually(
    () =>
      sentByGateway(newTask()).then(
        () => false,
        (error: { code?: string }) => error.code?.includes('BATON_API_KEY') === true,
      ),
    { deadlineMs: 10_000, describe: 'the old API key is refused' },
  )
  expect(await verify(readToken.old)).toMatchObject({ status: 403, code: 'BATON_TOKEN_REFUSED' })
  const headers = {
    authorization: `Bearer ${appendToken.old}`,
    'content-type': 'application/json',
  }
  const url = `${system.auditorUrl}/v1/records`
  const answer = await fetch(url, { method: 'POST', headers, body: '{"entries":[{}]}' })
  expect(answer.status).toBe(403)
}
