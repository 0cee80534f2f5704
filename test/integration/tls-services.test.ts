// Services that Baton only uses, at an authority of one's own: issuers of access tokens, the model of summaries, buckets and KMS are
// believed by the settings that every process has, taken anew while it runs; none is shown a certificate, and none holds a caller for ever.
import { writeFile } from 'node:fs/promises'
import { createKmsWrappingKey, loadS3Anchor, openColdStore } from '@baton/audit'
import type { ColdStore } from '@baton/audit'
import { startClassifierServer } from '@baton/engine/fixtures/classifier-server'
import { createAccessTokens, parseIssuers } from '@baton/http/access-tokens'
import { AUDIENCE, startTokenIssuer } from '@baton/http/fixtures/token-issuer'
import { createNoteSigner, singleSealKey } from '@baton/ledger'
import { NO_TLS } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
// What a program with nothing but the SDK has: it follows renewed files too.
import {
  createHttpClassifier,
  createLogger,
  createMetrics,
  createModelSummariser,
  createTls,
  readTls,
} from '@baton/sdk'
import { startModelServer } from '@baton/summarise/fixtures/model-server'
import { createTestAuthority, eventually, startFakeKms, startFakeS3 } from '@baton/testkit'
import type { TestTlsFiles } from '@baton/testkit'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { privateKey } from './audit-seals-fixture.ts'

const authority = await createTestAuthority()
const stranger = await createTestAuthority()
process.env['AWS_ACCESS_KEY_ID'] = 'test'
process.env['AWS_SECRET_ACCESS_KEY'] = 'test'
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await authority[Symbol.asyncDispose]()
  await stranger[Symbol.asyncDispose]()
})

const logger = createLogger({ service: 'test', level: 'fatal', destination: { write() {} } })
const certified = async (by: typeof authority) => by.certify('service')
const pem = async (by: typeof authority) => {
  const { certificate: cert, key } = await certified(by)
  return { cert, key }
}
const soon = (describe: string) => ({ deadlineMs: 10_000, describe })

/** A process of the installation: it has a certificate, and takes what changes. */
async function running(name: string) {
  const files = await authority.files(name)
  const settings = { ...files, BATON_ALLOW_PLAINTEXT: false }
  const { tls, watch } = createTls(settings, { logger, metrics: createMetrics(), everyMs: 5 })
  await watch.start()
  closers.push(() => watch.stop())
  /** Believes these from now on. */
  const believe = async (by: string) => {
    const before = tls.material
    await writeFile(files.BATON_TLS_CA_FILE, by)
    await eventually(() => tls.material !== before, soon('taken'))
  }
  return { tls, believe }
}

const believing = ({ BATON_TLS_CA_FILE }: TestTlsFiles): Tls =>
  readTls({
    BATON_TLS_CERT_FILE: undefined,
    BATON_TLS_KEY_FILE: undefined,
    BATON_TLS_CA_FILE,
    BATON_ALLOW_PLAINTEXT: false,
  })

const BOTH = authority.certificate + stranger.certificate

describe('an issuer of access tokens', () => {
  const NAMES = { tenant: '[a-z]+', operator: '[a-z]+', defaultTenant: 'default' }

  it('is believed by the own authority, and by another as soon as that is there', async () => {
    const issuer = await startTokenIssuer(await pem(authority))
    closers.push(() => issuer.stop())
    const file = JSON.stringify([
      { issuer: issuer.url, audience: AUDIENCE, operators: { 'ann-1': 'ann' } },
    ])
    const of = (tls: Tls) =>
      createAccessTokens({ issuers: parseIssuers(file), names: NAMES, logger, tls })
    const who = async (tls: Tls) => {
      const found = await of(tls).identify(await issuer.token())
      return found.ok ? found.access.operator : found.why
    }
    const { tls, believe } = await running('gateway')
    expect(await who(tls)).toBe('ann')
    expect(await who(NO_TLS)).toBe('unread')
    issuer.certify(await pem(stranger))
    expect(await who(tls)).toBe('unread')
    await believe(BOTH)
    expect(await who(tls)).toBe('ann')
  })
})

describe('a classifier beside the scanner', () => {
  const question = {
    texts: [],
    verdict: { decision: 'allow', score: 0, findings: [], rulesetVersion: 'test' },
  } as const

  it('is believed by the own authority alone, and shown no certificate', async () => {
    const server = await startClassifierServer(await pem(authority))
    closers.push(() => server.close())
    const ask = async (tls: Tls) => {
      const asked = createHttpClassifier({ url: server.url, name: 'guard', timeoutMs: 5_000, tls })
      closers.push(() => asked.close())
      return asked.classify(question, 'default')
    }
    const { tls } = await running('receiver')
    expect(await ask(tls)).toEqual({ version: '1', decision: 'allow' })
    const code = 'BATON_CLASSIFIER_UNAVAILABLE'
    await expect(ask(NO_TLS)).rejects.toMatchObject({ code })
    await expect(ask(believing(await stranger.files('stranger')))).rejects.toMatchObject({ code })
    expect(server.asked).toHaveLength(1)
    expect(server.certificates()).toEqual([false])
  })
})

describe('the model of summaries', () => {
  const NARRATIVE = 'They went through the file together and found little to object to.'
  const talk = {
    role: 'user',
    content: 'That sounds good to me, please go on with it. '.repeat(12),
  }
  const job = {
    older: { turns: Array.from({ length: 20 }, () => talk), summary: '' },
    bounds: { tokensMax: 600, kept: 5 },
    upstreamCostUSD: 1,
  }

  const ask = (baseUrl: string, tls: Tls) => {
    const one = createModelSummariser({
      baseUrl,
      model: 'stand-in',
      promptUSDPerMillion: 0,
      completionUSDPerMillion: 0,
      timeoutMs: 5_000,
      tls,
    })
    closers.push(() => one.close())
    return one.summarise(job)
  }

  it('is believed by the own authority, and by another as soon as that is there', async () => {
    const model = await startModelServer(await pem(authority))
    closers.push(() => model.close())
    model.answer = () => ({ text: NARRATIVE })
    const { tls, believe } = await running('relay')
    const of = async (whose: Tls) => (await ask(model.baseUrl, whose)).reason
    expect(await of(tls)).toBe('written')
    expect(await of(NO_TLS)).toBe('unavailable')
    model.certify(await pem(stranger))
    expect(await of(tls)).toBe('unavailable')
    await believe(BOTH)
    expect(await of(tls)).toBe('written')
  })

  it('sends nobody elsewhere with what was said', async () => {
    const model = await startModelServer(await pem(authority))
    const elsewhere = await startModelServer()
    closers.push(
      () => model.close(),
      () => elsewhere.close(),
    )
    model.answer = () => ({ redirect: `${elsewhere.baseUrl}/chat/completions` })
    const { tls } = await running('sender')
    expect((await ask(model.baseUrl, tls)).reason).toBe('unavailable')
    expect(elsewhere.asked).toEqual([])
  })
})

const COLD = {
  BATON_COLD_FOLDER: undefined,
  BATON_COLD_S3_BUCKET: 'cold',
  BATON_COLD_S3_REGION: 'us-east-1',
  BATON_COLD_S3_LOCK_DAYS: 0,
}
const coldOf = (url: string, tls: Tls) =>
  openColdStore({ ...COLD, BATON_COLD_S3_ENDPOINT: url }, tls) as ColdStore
const HASH = 'baton/test/1/s0/tile/0/000'

const signer = createNoteSigner({ name: 'example.com/seals', pkcs8: privateKey() })
const keys = singleSealKey(signer.key.publicKey)
const anchorOf = async (endpoint: string, tls: Tls) => {
  const open = await loadS3Anchor({
    bucket: 'seals',
    region: 'us-east-1',
    endpoint,
    lockDays: 1,
    tls,
  })
  return open(async () => ({ origin: signer.key.name, keys }))
}

describe('a bucket', () => {
  it('of the log and one of seals are believed by the own authority, also after both have another', async () => {
    const s3 = await startFakeS3(await certified(authority))
    closers.push(() => s3.close())
    const { tls, believe } = await running('archiver')
    const cold = coldOf(s3.url, tls)
    const anchor = await anchorOf(s3.url, tls)
    expect(await cold.putIfAbsent(HASH, Buffer.from('hash'))).toBe('stored')
    expect(await anchor.latest()).toBeUndefined()

    const refused = (code: string) =>
      expect.objectContaining({ kind: 'transient', code, message: expect.stringMatching(UNKNOWN) })
    const neither = async () => {
      s3.hangUp()
      await expect(cold.get(HASH)).rejects.toThrow(refused('BATON_COLD_STORE_UNAVAILABLE'))
      await expect(anchor.latest()).rejects.toThrow(refused('BATON_ANCHOR_UNAVAILABLE'))
    }
    // The bucket is the same: no session with it goes on.
    await believe(stranger.certificate)
    await neither()
    s3.certify(await certified(stranger))
    s3.hangUp()
    expect(Buffer.from((await cold.get(HASH)) ?? '').toString()).toBe('hash')
    expect(await anchor.latest()).toBeUndefined()
    await believe(authority.certificate)
    await neither()
    await believe(BOTH)
    expect(await cold.list('baton/')).toEqual([HASH])
    expect(await anchor.latest()).toBeUndefined()
    expect(s3.shown).toBe(0)
  })

  it('is not believed under another name', async () => {
    const s3 = await startFakeS3(await authority.certify('service', { hosts: ['s3.example'] }))
    closers.push(() => s3.close())
    const tls = believing(await authority.files('auditor'))
    await expect(coldOf(s3.url, tls).get(HASH)).rejects.toThrow(/for other names/)
  })
})

const UNKNOWN = /authority that is not believed/

describe('KMS', () => {
  it('at an endpoint of the own network is believed by the own authority', async () => {
    const kms = await startFakeKms(await certified(authority))
    closers.push(() => kms.close())
    const { tls, believe } = await running('auditor')
    const open = (whose: Tls) =>
      createKmsWrappingKey(kms.keyArn, { endpoint: kms.url, environment: 'test', tls: whose })
    const wrapped = await open(tls).wrap(Buffer.alloc(32, 1), 'context')
    expect(await open(tls).unwrap(wrapped, 'context')).toEqual(Buffer.alloc(32, 1))
    await believe(stranger.certificate)
    await expect(open(tls).unwrap(wrapped, 'context')).rejects.toMatchObject({
      code: 'BATON_KMS_UNAVAILABLE',
    })
  })
})
