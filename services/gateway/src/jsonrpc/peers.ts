// The session peers of the operator's file: who calls, and how each is called. Read once, at the start.
import { DEFAULT_TENANT } from '@baton/ledger'
import { hash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { bearerOf } from '@baton/http/server'
import { readPeers } from '@baton/protocol/dialects/session'
import type { SessionPeer } from '@baton/protocol/dialects/session'
import { permanent, readVariable } from '@baton/runtime'
import type { ApiKey, Identified } from '../api-keys.ts'

/** A peer with the token for calling it. */
export interface KnownPeer extends SessionPeer {
  readonly token: string | undefined
}

export interface Peers {
  readonly all: readonly KnownPeer[]
  find(name: string): KnownPeer | undefined
  /** Whether anybody has a token for calling here. */
  readonly mayCall: boolean
  /** Whose bearer an Authorization header carries. */
  identify(authorization: string | undefined): Identified
}

const PREFIX = 'session:'

/** Who acts, where a peer does. */
export const operatorOfPeer = (name: string): string => `${PREFIX}${name}`

/** The name of the peer that acts as this operator. */
export const peerOfOperator = (operator: string): string =>
  operator.startsWith(PREFIX) ? operator.slice(PREFIX.length) : ''

/** Throws BATON_PEERS_INVALID. No path is no peers. */
export function openPeers(
  path: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Peers {
  const all = path === undefined ? [] : readFile(path).map((peer) => withToken(peer, env))
  const byName = new Map(all.map((peer) => [peer.name, peer]))
  const keys = all.flatMap((peer) => keyOfPeer(peer))
  return {
    all,
    find: (name) => byName.get(name),
    mayCall: keys.length > 0,
    identify(authorization) {
      if (authorization === undefined) return { ok: false, why: 'missing' }
      const digest = hash('sha256', bearerOf(authorization) ?? '', 'buffer')
      const key = keys.filter((one) => timingSafeEqual(one.sha256, digest)).at(0)
      return key === undefined ? { ok: false, why: 'unknown' } : { ok: true, key }
    },
  }
}

function readFile(path: string): readonly SessionPeer[] {
  const read = readPeers(readBytes(path))
  if (read.ok) return read.value
  throw invalid(`${path}, at ${read.pointer || '/'}: ${read.problem}`, read.fix)
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const code = (error as { code?: string }).code ?? 'unknown'
    throw invalid(`${path} cannot be read (${code})`, 'Give the path of a readable file.')
  }
}

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

const keyOfPeer = ({ name, inboundSha256 }: KnownPeer): ApiKey[] =>
  inboundSha256 === null
    ? []
    : [
        {
          id: `peer ${name}`,
          operator: operatorOfPeer(name),
          tenant: DEFAULT_TENANT,
          // Each is named by whoever runs this gateway, and urgent is a word of their protocol.
          scopes: new Set(['handoffs:send', 'handoffs:send-critical']),
          sha256: Buffer.from(inboundSha256, 'hex'),
          expiresAtMs: undefined,
        },
      ]

const invalid = (problem: string, fix: string) =>
  permanent('BATON_PEERS_INVALID', `BATON_PEERS: ${problem}`, {
    fix: `${fix} infra/protocols/session.md shows such a file.`,
  })
