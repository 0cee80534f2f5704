// A program reads what `baton env` printed; what is missing or wrong is said at once, with the way to mend it.
import { expect, it } from 'vitest'
import { readSenderOptions, readWorkerOptions } from './connection.ts'

const SENDING = {
  BATON_DATABASE_URL: 'postgres://baton_delivery:secret@127.0.0.1:5432/baton',
  BATON_SIGNING_KEYS: `k1:active:${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`,
}

it('says how to join where nothing is told', () => {
  for (const read of [readSenderOptions, readWorkerOptions])
    expect(() => read({ PATH: '/bin' })).toThrow(
      expect.objectContaining({
        code: 'BATON_CONNECTION_MISSING',
        fix: expect.stringContaining('baton -- env') as string,
      }),
    )
})

it('names everything that is missing or wrong', () => {
  expect(() => readWorkerOptions({ ...SENDING, BATON_AUDIT_URL: 'nowhere' })).toThrow(
    /BATON_AUDIT_URL is "nowhere".*\n.*BATON_AUDIT_APPEND_TOKEN is missing/,
  )
})

it('answers what senders and workers take', () => {
  expect(readSenderOptions({ ...SENDING, BATON_TENANT: 'acme' })).toMatchObject({
    databaseUrl: SENDING.BATON_DATABASE_URL,
    tenant: 'acme',
  })
  const token = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url')
  expect(readWorkerOptions({ ...SENDING, BATON_AUDIT_APPEND_TOKEN: token })).toMatchObject({
    audit: { url: 'http://127.0.0.1:8421', token },
    queue: { redisUrl: undefined, prefix: 'baton' },
  })
})
