// The session peers of the operator's file: who calls, and how each is called. Read once, at the start.
import { DEFAULT_TENANT } from '@baton/ledger'
import { hash, timingSafeEqual } from 'node:crypto'
import { bearerOf } from '@baton/http/server'
import { readPeers, tenantOfPeer } from '@baton/protocol/dialects/session'
import type { SessionPeer } from '@baton/protocol/dialects/session'
import { permanent, readNamedFile, readVariable } from '@baton/runtime'
import type { Access, ApiKey, Identified } from '../api-keys.ts'
import type { Authenticate } from '../authenticate.ts'

/** A peer with the token for calling it. */
export interface KnownPeer extends SessionPeer {
  readonly token: string | undefined
}

export interface Peers {
  readonly all: readonly KnownPeer[]
  find(name: string): KnownPeer | undefined
  /** Whether anybody may call here. */
  readonly mayCall: boolean
  /** Whose an Authorization header is: of a peer by its own token, or of whom API keys and access tokens say. */
  identify(authorization: string | undefined): Identified | Promise<Identified>
  /** The peer that such a caller is; undefined of others. */
  of(key: Access): KnownPeer | undefined
}

/** Who acts, where a peer does. */
export const operatorOfPeer = ({ name, operator }: KnownPeer): string =>
  operator ?? `session:${name}`

/** Whose a peer is. */
export const tenantOf = (peer: KnownPeer): string => tenantOfPeer(peer) ?? DEFAULT_TENANT

interface PeersParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly authenticate: Authenticate
}

/** Throws BATON_PEERS_INVALID. No path is no peers. */
export function openPeers(path: string | undefined, { env, authenticate }: PeersParts): Peers {
  const all = path === undefined ? [] : readFile(path).map((peer) => withToken(peer, env))
  const byName = new Map(all.map((peer) => [peer.name, peer]))
  const keyed = all.flatMap((peer) => keyOfPeer(peer).map((key) => ({ key, peer })))
  const byToken = new Map<Access, KnownPeer>(keyed.map(({ key, peer }) => [key, peer]))
  const byOperator = new Map(
    all.flatMap((peer) => (peer.operator === null ? [] : [[peer.operator, peer] as const])),
  )
  return {
    all,
    find: (name) => byName.get(name),
    mayCall: keyed.length + byOperator.size > 0,
    identify(authorization) {
      if (authorization === undefined) return { ok: false, why: 'missing' }
      const digest = hash('sha256', bearerOf(authorization) ?? '', 'buffer')
      const [known] = keyed.filter(({ key }) => timingSafeEqual(key.sha256, digest))
      if (known !== undefined) return { ok: true, key: known.key }
      return byOperator.size === 0 ? { ok: false, why: 'unknown' } : authenticate(authorization)
    },
    // The operator of a key is a name of the database or of an issuer: none is called as a peer with a token is.
    of: (key) => byToken.get(key) ?? byOperator.get(key.operator),
  }
}

function readFile(path: string): readonly SessionPeer[] {
  const read = readPeers(readBytes(path))
  if (read.ok) return read.value
  throw invalid(`${path}, at ${read.pointer || '/'}: ${read.problem}`, read.fix)
}

const readBytes = (path: string): Buffer =>
  readNamedFile(path, (problem) =>
    invalid(`${path} ${problem}`, 'Give the path of a readable file.'),
  )

function withToken(
  peer: SessionPeer,
  env: Readonly<Record<string, string | undefined>>,
): KnownPeer {
  const { name, tokenFile, tokenEnv } = peer
  if (tokenFile === null && tokenEnv === null) return { ...peer, token: undefined }
  const token =
    tokenFile === null ? readVariable(env, tokenEnv ?? '') : readBytes(tokenFile).toString().trim()
  if (token === undefined || !/^[\x21-\x7e]{1,4096}$/.test(token))
    throw invalid(
      `the token of ${name} is missing`,
      'Put the token where tokenFile or tokenEnv says.',
    )
  return { ...peer, token }
}

const keyOfPeer = (peer: KnownPeer): ApiKey[] =>
  peer.inboundSha256 === null
    ? []
    : [
        {
          id: `peer ${peer.name}`,
          operator: operatorOfPeer(peer),
          tenant: DEFAULT_TENANT,
          // Each is named by whoever runs this gateway, and urgent is a word of their protocol.
          scopes: new Set(['handoffs:send', 'handoffs:send-critical', 'executions:claim']),
          sha256: Buffer.from(peer.inboundSha256, 'hex'),
          expiresAtMs: undefined,
        },
      ]

const invalid = (problem: string, fix: string) =>
  permanent('BATON_PEERS_INVALID', `BATON_PEERS: ${problem}`, {
    fix: `${fix} infra/protocols/session.md shows such a file.`,
  })
