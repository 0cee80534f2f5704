// A2A 0.3, for an installation that still has callers of it: its JSON-RPC and its card, by the SDK's own translation.
import { A2A_LEGACY_PROTOCOL_VERSION } from '@a2a-js/sdk/compat/v0_3'
import {
  LegacyJsonRpcTransportHandler,
  LegacyRestTransportHandler,
} from '@a2a-js/sdk/compat/v0_3/server'
import { AgentCard } from '@a2a-js/sdk'
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'

/** Whether a request says, or by saying nothing means, that it is of version 0.3. */
export const isLegacy = (version: string | undefined): boolean =>
  (version || A2A_LEGACY_PROTOCOL_VERSION) === A2A_LEGACY_PROTOCOL_VERSION

/** What reads the calls of one version of JSON-RPC, and writes its answers. */
export const rpcTransport = (
  handler: A2ARequestHandler,
  legacy: boolean,
): LegacyJsonRpcTransportHandler | JsonRpcTransportHandler =>
  legacy ? new LegacyJsonRpcTransportHandler(handler) : new JsonRpcTransportHandler(handler)

/** The card as both versions read it: the words of 0.3, with the interfaces of 1.0 beside them. */
export async function legacyCard(card: AgentCard): Promise<object> {
  const only = { getAuthenticatedExtendedAgentCard: async () => card } as Partial<A2ARequestHandler>
  const translating = new LegacyRestTransportHandler(only as A2ARequestHandler)
  const translated = await translating.getAuthenticatedExtendedAgentCard(new ServerCallContext())
  const { supportedInterfaces } = AgentCard.toJSON(card) as { supportedInterfaces: unknown }
  return { ...translated, supportedInterfaces }
}
