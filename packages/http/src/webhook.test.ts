// Webhooks are signed as Standard Webhooks says: its own library and plain arithmetic agree.
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { createWebhookSigner } from './webhook.ts'

const KEY = Buffer.alloc(24, 7)
const SECRET = `whsec_${KEY.toString('base64')}`
const MESSAGE = { id: 'msg_1', at: new Date(), body: '{"type":"handoff.offered"}' }

describe('a signed webhook', () => {
  it('carries id, time and signature', () => {
    const headers = createWebhookSigner(SECRET).headersOf(MESSAGE)
    const seconds = Math.floor(MESSAGE.at.getTime() / 1_000)
    const mac = createHmac('sha256', KEY)
      .update(`msg_1.${seconds}.${MESSAGE.body}`)
      .digest('base64')
    expect(headers).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${mac}`,
    })
  })
  it('is believed by the library of its readers, and only as it is', () => {
    const headers = createWebhookSigner(SECRET).headersOf(MESSAGE)
    const reader = new Webhook(SECRET)
    expect(reader.verify(MESSAGE.body, headers)).toEqual({ type: 'handoff.offered' })
    expect(() => reader.verify('{"type":"handoff.failed"}', headers)).toThrow(
      'No matching signature',
    )
  })
  it.each(['', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${Buffer.alloc(65).toString('base64')}`])(
    'needs a key that is long enough, not %j',
    (secret) => {
      expect(() => createWebhookSigner(secret)).toThrow('cannot be used')
    },
  )
})
