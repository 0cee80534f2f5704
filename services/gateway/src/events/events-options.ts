// How events leave a gateway, as its settings say.
import { permanent } from '@baton/runtime'

export interface EventsOptions {
  /** Encrypts the secrets of subscriptions; without it nobody is told by webhooks. */
  readonly secretsKey?: string | undefined
  /** Origins in one's own network that subscriptions may name, plain http too. */
  readonly privateOrigins?: ReadonlySet<string>
  readonly keptDays?: number
  /** How long an event is tried at all. */
  readonly endMs?: number
  readonly callMs?: number
  readonly lookMs?: number
  /** Subscriptions that one tenant may have. */
  readonly subscriptionsMax?: number
}

export const EVENTS_DEFAULTS = {
  privateOrigins: new Set<string>(),
  keptDays: 14,
  endMs: 84 * 3_600_000,
  callMs: 10_000,
  lookMs: 500,
  subscriptionsMax: 20,
} as const satisfies EventsOptions

/** Origins, comma-separated. Throws BATON_EVENTS_TARGETS_INVALID. */
export function parsePrivateOrigins(text: string | undefined): ReadonlySet<string> {
  const named = (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  return new Set(named.map(originOf))
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
  if (isOrigin) return url.origin
  throw permanent(
    'BATON_EVENTS_TARGETS_INVALID',
    'BATON_EVENTS_PRIVATE_TARGETS names what is no origin',
    {
      fix: 'Give https://host:port, several separated by commas, with neither path nor name and password.',
    },
  )
}
