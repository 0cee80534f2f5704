// What A2A's callers read first: an agent card of the instance, and one of each agent type.
import { hash } from 'node:crypto'
import { AgentCard } from '@a2a-js/sdk'
import { HANDOFF_EXTENSION, OPTIONS_SCHEMA } from '@baton/protocol/dialects/a2a'
import type { LiveAgentView } from '@baton/store'

export interface CardOptions {
  /** Where callers reach this gateway, without a slash at the end. */
  readonly baseUrl: string
  /** Whether callers of A2A 0.3 are answered too. */
  readonly legacy: boolean
  /** Whether callers can be told by push notifications. */
  readonly pushes: boolean
}

export const AGENTS_PATH = '/a2a/agents'

/** Where messages to an agent type go. */
const pathOf = (agentType: string | undefined): string =>
  agentType === undefined ? '/a2a' : `${AGENTS_PATH}/${encodeURIComponent(agentType)}`

/** The card of the instance: its skills are the agent types that it was given. */
export const instanceCard = (
  agents: readonly Pick<LiveAgentView, 'type' | 'requires' | 'capabilities'>[],
  options: CardOptions,
): AgentCard =>
  cardOf(undefined, options, {
    name: 'Baton',
    description:
      'Hands work to agents durably: each skill is an agent type, named by targetAgentType of the extension or by an agent card of its own.',
    skills: agents.map(skillOf),
  })

/** The card of one agent type, for callers that know nothing of Baton. */
export const agentCard = (
  agent: Pick<LiveAgentView, 'type' | 'requires' | 'capabilities'>,
  options: CardOptions,
): AgentCard =>
  cardOf(agent.type, options, {
    name: agent.type,
    description: `The agent type ${agent.type}, reached through Baton: what it is sent is durable, audited and executed once.`,
    skills: [skillOf(agent)],
  })

const skillOf = ({
  type,
  requires,
  capabilities,
}: Pick<LiveAgentView, 'type' | 'requires' | 'capabilities'>) => ({
  id: type,
  name: type,
  description:
    requires.length === 0
      ? `Hands the message to the agent type ${type}.`
      : `Hands the message to the agent type ${type}, which needs ${requires.join(', ')}: as members of a data part; one alone may be the text.`,
  tags: ['handoff', ...capabilities],
})

const INPUT_MODES = ['text/plain', 'application/json']
const OUTPUT_MODES = ['application/json', 'text/plain']

interface Said {
  readonly name: string
  readonly description: string
  readonly skills: readonly object[]
}

function cardOf(agentType: string | undefined, options: CardOptions, said: Said): AgentCard {
  const { baseUrl, legacy } = options
  const url = `${baseUrl}${pathOf(agentType)}`
  return AgentCard.fromJSON({
    ...said,
    version: '2.0.0',
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ...(legacy ? [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }] : []),
    ],
    capabilities: {
      streaming: true,
      pushNotifications: options.pushes,
      extendedAgentCard: true,
      extensions: [
        {
          uri: HANDOFF_EXTENSION,
          description:
            'A data part may be a whole handoff as POST /v2/handoffs takes it; the metadata of a message say whom it is for and how it is delivered.',
          required: false,
          params: {
            metadataSchema: OPTIONS_SCHEMA,
            handoffSchema: `${baseUrl}/schemas/handoff/2.2.json`,
          },
        },
      ],
    },
    securitySchemes: {
      bearer: {
        httpAuthSecurityScheme: {
          scheme: 'Bearer',
          description:
            'An API key bk_<id>_<secret>, or an access token of an issuer that the operator named.',
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: INPUT_MODES,
    defaultOutputModes: OUTPUT_MODES,
  })
}

export interface CardDocument {
  readonly body: string
  readonly etag: string
  readonly lastModified: Date
}

const KEPT_MAX = 1_000

/** Cards as they are sent: the same card has the same tag, and is as old as this process has known it. */
export function createCardDocuments(now: () => Date): (key: string, card: object) => CardDocument {
  const known = new Map<string, CardDocument>()
  return (key, card) => {
    const body = JSON.stringify(card)
    const etag = `"${hash('sha256', body).slice(0, 32)}"`
    const before = known.get(key)
    if (before?.etag === etag) return before
    if (known.size >= KEPT_MAX) known.clear()
    // HTTP says times to the second.
    const lastModified = new Date(Math.floor(now().getTime() / 1_000) * 1_000)
    const document = { body, etag, lastModified }
    known.set(key, document)
    return document
  }
}
