// The vault's wrapping key in KMS: asked seldom and never for each record, waited for within bounds, and nothing is recorded without it.
// KMS is a stand-in here (testkit/fake-kms), which says what it does not show.
import { randomBytes, randomUUID } from 'node:crypto'
import { createKmsWrappingKey, openWrappingKeys } from '@baton/audit'
import { eventually, startFakeKms } from '@baton/testkit'
import type { FakeKms } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'of-the-stand-in' }

let kms: FakeKms
beforeAll(async () => {
  for (const [name, value] of Object.entries(CREDENTIALS)) vi.stubEnv(name, value)
  kms = await startFakeKms()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await kms.close()
})

const secretKey = () => randomBytes(32)
const asked = (from: number) => kms.calls.slice(from).map(({ name }) => name)

describe('a wrapping key in KMS', () => {
  const open = (environment = 'test', nowMs = () => 0) =>
    createKmsWrappingKey(kms.keyArn, { endpoint: kms.url, environment, nowMs })

  it('is meant by its ARN, and no alias is taken for one', async () => {
    const local = openWrappingKeys(randomBytes(32).toString('base64'), {
      environment: 'test',
    }).wrappingKey
    const { id } = openWrappingKeys(kms.keyArn, { environment: 'test' }).wrappingKey
    expect(id).toMatch(/^[0-9a-f]{16}$/)
    expect(local.id).not.toBe(id)
    const alias = 'arn:aws:kms:eu-central-1:111122223333:alias/baton'
    expect(() => openWrappingKeys(alias, { environment: 'test' })).toThrow('32 bytes of base64')
    const plain = { environment: 'test', endpoint: 'http://kms.example:4566' }
    expect(() => openWrappingKeys(kms.keyArn, plain)).toThrow(
      'BATON_KMS_ENDPOINT names kms.example',
    )
  })

  it('opens what it wrapped, for the same subject and environment alone', async () => {
    const key = open()
    const subject = secretKey()
    const wrapped = await key.wrap(subject, 'subject 1')
    expect(wrapped.includes(subject)).toBe(false)
    expect(await open().unwrap(wrapped, 'subject 1')).toEqual(subject)
    const unreadable = { code: 'BATON_VAULT_KEY_UNREADABLE' }
    await expect(key.unwrap(wrapped, 'subject 2')).rejects.toMatchObject(unreadable)
    await expect(open('production').unwrap(wrapped, 'subject 1')).rejects.toMatchObject(unreadable)
    for (const place of [0, 1, 5, wrapped.length - 1]) {
      const altered = Buffer.from(wrapped)
      altered[place] = (altered[place] ?? 0) ^ 1
      await expect(open().unwrap(altered, 'subject 1')).rejects.toMatchObject(unreadable)
    }
    expect(kms.calls[0]?.context).toEqual({ purpose: 'baton/vault', environment: 'test' })
  })

  it('asks once for a thousand subjects, and again for the next or after ten minutes', async () => {
    let atMs = 0
    const key = open('test', () => atMs)
    const before = kms.calls.length
    const wrapped = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => key.wrap(secretKey(), `subject ${index}`)),
    )
    await Promise.all(wrapped.map((one, index) => key.unwrap(one, `subject ${index}`)))
    expect(asked(before)).toEqual(['Encrypt'])
    await key.wrap(secretKey(), 'subject')
    expect(asked(before)).toEqual(['Encrypt', 'Encrypt'])
    atMs = 600_001
    await key.wrap(secretKey(), 'subject')
    expect(asked(before)).toEqual(['Encrypt', 'Encrypt', 'Encrypt'])
    await key.unwrap(wrapped[0] as Buffer, 'subject 0')
    expect(asked(before)).toEqual(['Encrypt', 'Encrypt', 'Encrypt', 'Decrypt'])
  })

  it('asks at most sixteen times at once, once for each data key', async () => {
    const wrapped = await Promise.all(
      Array.from({ length: 64 }, () => open().wrap(secretKey(), 'subject')),
    )
    const before = kms.calls.length
    const reader = open()
    await Promise.all([...wrapped, ...wrapped].map((one) => reader.unwrap(one, 'subject')))
    expect(asked(before)).toHaveLength(64)
    const another = await startFakeKms()
    try {
      const key = createKmsWrappingKey(another.keyArn, { endpoint: another.url, environment: 'x' })
      const forged = wrapped.map((one, index) => {
        const copy = Buffer.from(one)
        copy.writeUInt32BE(index, 4)
        return copy
      })
      await Promise.allSettled(forged.map((one) => key.unwrap(one, 'subject')))
      expect(another.calls).toHaveLength(64)
      expect(another.mostAtOnce).toBeLessThanOrEqual(16)
      // What it will not open is an answer: it is asked again at once.
      expect(await key.unwrap(await key.wrap(secretKey(), 's'), 's')).toHaveLength(32)
    } finally {
      await another.close()
    }
  })

  it.each(['refuses', 'breaks off', 'hangs'] as const)(
    'gives up within seconds where KMS %s, and comes back by itself',
    async (how) => {
      const key = open()
      kms.fail(how)
      const startedMs = performance.now()
      try {
        await expect(key.wrap(secretKey(), 'subject')).rejects.toMatchObject({
          code: 'BATON_KMS_UNAVAILABLE',
          kind: 'transient',
        })
      } finally {
        kms.fail(undefined)
      }
      expect(performance.now() - startedMs).toBeLessThan(8_000)
      expect(await key.unwrap(await key.wrap(secretKey(), 's'), 's')).toHaveLength(32)
    },
  )

  it('pauses calls while KMS is away', async () => {
    const key = open()
    kms.fail('refuses')
    try {
      const tries = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => open().wrap(secretKey(), `subject ${index}`)),
      )
      expect(tries.every(({ status }) => status === 'rejected')).toBe(true)
      const codes: unknown[] = []
      for (let count = 0; count < 6; count += 1)
        await key
          .wrap(secretKey(), 's')
          .catch((error: unknown) => codes.push((error as { code: unknown }).code))
      expect(codes[0]).toBe('BATON_KMS_UNAVAILABLE')
      expect(codes.at(-1)).toBe('BATON_BREAKER_OPEN')
    } finally {
      kms.fail(undefined)
    }
  })
})

describe('an auditor whose wrapping key is in KMS', () => {
  let fixture: AuditFixture
  beforeAll(async () => {
    fixture = await createAuditFixture()
  })
  afterAll(() => fixture.close())

  const start = () =>
    fixture.startAuditor({
      ...CREDENTIALS,
      BATON_AUDIT_WRAPPING_KEY: kms.keyArn,
      BATON_KMS_ENDPOINT: kms.url,
      BATON_ENVIRONMENT: 'kms',
    })
  const about = (subject: string) =>
    entryOf({ segments: [{ kind: 'message', subject, text: `what ${subject} said` }] })
  const recorded = async () =>
    (await fixture.superuser.query({ text: 'select 1 from audit.record' })).rowCount

  it('asks once for all that it appends, and goes on with what it has while KMS is away', async () => {
    const { client } = await start()
    const before = kms.calls.length
    for (let count = 0; count < 20; count += 1)
      await client.append([about(`person-${randomUUID()}`)])
    expect(asked(before)).toEqual(['Encrypt'])
    kms.fail('refuses')
    try {
      await client.append([about(`person-${randomUUID()}`)])
    } finally {
      kms.fail(undefined)
    }
    expect(asked(before)).toEqual(['Encrypt'])
  })

  it('records nothing that it cannot wrap, says so, and takes it when KMS is back', async () => {
    const auditor = await start()
    const entry = about(`person-${randomUUID()}`)
    const records = await recorded()
    kms.fail('refuses')
    try {
      const refused = await auditor.post({ entries: [entry] })
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'BATON_KMS_UNAVAILABLE' })
      expect(await recorded()).toBe(records)
    } finally {
      kms.fail(undefined)
    }
    await auditor.client.append([entry])
    expect(await recorded()).toBe((records ?? 0) + 1)
    const before = kms.calls.length
    const reader = await start()
    const trace = await reader.read<{ verified: boolean }>(`/v1/traces/${entry.taskId}`)
    expect(trace.verified).toBe(true)
    // Who has not made the data key asks for it: here to look at the payload again, which begins by itself.
    await eventually(() => asked(before).length > 0, {
      deadlineMs: 10_000,
      describe: 'the payload opened by another auditor',
    })
    expect(new Set(asked(before))).toEqual(new Set(['Decrypt']))
  })
})
