// Every agent type gets a queue name of its own, whatever characters it is made of.

const UNSAFE = /[^A-Za-z0-9._-]/g

/**
 * Maps an agent type to a BullMQ queue name: `{risk-scoring}`. The braces are a hash tag, so that all keys
 * of one queue live in one slot of a Redis Cluster. Anything but letters, digits, `.`, `_` and `-`
 * becomes `%` and four hex digits per UTF-16 unit, which no two types can share.
 */
export function queueNameOf(agentType: string): string {
  const escaped = agentType.replace(
    UNSAFE,
    (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `{${escaped}}`
}
