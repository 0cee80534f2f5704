// Certificates made here are taken in real handshakes by who trusts their authority, under their hosts, while they count.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import { describe, expect, it } from 'vitest'
import {
  belongTogether,
  describeCertificate,
  isSignedBy,
  makeAuthority,
  makeCertificate,
} from './certificates.ts'
import type { Certified } from './certificates.ts'

const DAY_MS = 86_400_000
const authority = await makeAuthority({ name: 'authority', days: 2 })
const stranger = await makeAuthority({ name: 'authority', days: 2 })
const ofServer = (from = new Date(), hosts = ['db.example', '127.0.0.1']) =>
  makeCertificate(authority, { name: 'server', hosts, days: 1, from })
const client = await makeCertificate(authority, { name: 'client', hosts: ['c'], days: 1 })

/** The code of what went wrong at the client, or the name by which the server knows it. */
async function shakeHands(server: Certified, options: ConnectionOptions): Promise<string> {
  const ca = authority.certificate
  const listening = createServer(
    { cert: server.certificate, key: server.key, ca, requestCert: true, rejectUnauthorized: true },
    (socket) => socket.end(String(socket.getPeerCertificate().subject.CN)),
  ).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  const own = { cert: client.certificate, key: client.key, ca }
  try {
    return await new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port, ...own, ...options })
      socket.on('data', (bytes) => resolve(bytes.toString()))
      socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'no code'))
      socket.on('close', () => resolve('closed'))
    })
  } finally {
    listening.close()
  }
}

describe('a certificate', () => {
  it('is taken under each of its hosts, names and addresses, by server and client', async () => {
    const server = await ofServer()
    expect(await shakeHands(server, {})).toBe('client')
    expect(await shakeHands(server, { servername: 'db.example' })).toBe('client')
  })

  it('is taken under no other name', async () => {
    const server = await ofServer()
    expect(await shakeHands(server, { servername: 'other.example' })).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    )
    expect(await shakeHands(await ofServer(new Date(), ['db.example']), {})).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    )
  })

  it('is taken from its own authority alone, whatever another one is called', async () => {
    const server = await ofServer()
    expect(await shakeHands(server, { ca: stranger.certificate })).toMatch(
      /UNABLE_TO_VERIFY|SELF_SIGNED|SIGNATURE/,
    )
    const foreign = await makeCertificate(stranger, { name: 'client', hosts: ['c'], days: 1 })
    const own = { cert: foreign.certificate, key: foreign.key }
    expect(await shakeHands(server, own)).not.toBe('client')
  })

  it('counts a little before it begins, and not after it ends', async () => {
    expect(await shakeHands(await ofServer(new Date(Date.now() + 60_000)), {})).toBe('client')
    const ended = await ofServer(new Date(Date.now() - DAY_MS - 1_000))
    expect(await shakeHands(ended, {})).toBe('CERT_HAS_EXPIRED')
  })

  it('certifies nobody else', async () => {
    const leaf = await ofServer()
    const below = await makeCertificate(leaf, { name: 'below', hosts: ['127.0.0.1'], days: 1 })
    const chain = { certificate: below.certificate + leaf.certificate, key: below.key }
    expect(await shakeHands(chain, {})).not.toBe('client')
  })

  it('says who it is for, how it is reached and how long it counts', async () => {
    const from = new Date('2030-01-01T00:05:00Z')
    const { certificate } = await ofServer(from)
    expect(describeCertificate(certificate)).toEqual({
      name: 'server',
      hosts: ['db.example', '127.0.0.1'],
      from: new Date('2030-01-01T00:00:00Z'),
      until: new Date('2030-01-02T00:05:00Z'),
      isAuthority: false,
    })
    expect(describeCertificate(authority.certificate).isAuthority).toBe(true)
  })

  it('is told from the key and the authority of another', async () => {
    expect(belongTogether(client)).toBe(true)
    expect(belongTogether({ ...client, key: stranger.key })).toBe(false)
    expect(isSignedBy(client.certificate, authority.certificate)).toBe(true)
    expect(isSignedBy(client.certificate, stranger.certificate)).toBe(false)
  })
})
