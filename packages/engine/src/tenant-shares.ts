// How much of what a process does at once may be one tenant's: whoever is slow holds up nobody else.

interface Shares {
  readonly atOnce: number
  readonly perTenant: number
}

interface Room {
  /** Tenants that have their share. */
  readonly without: readonly string[]
  /** How many more may be claimed, whosever they are, without any tenant having more than its share. */
  readonly limit: number
}

export function roomLeft(
  running: Iterable<{ readonly tenant: string }>,
  { atOnce, perTenant }: Shares,
): Room {
  const counts = new Map<string, number>()
  for (const { tenant } of running) counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
  const without: string[] = []
  let most = 0
  let all = 0
  for (const [tenant, count] of counts) {
    all += count
    if (count >= perTenant) without.push(tenant)
    else most = Math.max(most, count)
  }
  return { without, limit: Math.max(0, Math.min(atOnce - all, perTenant - most)) }
}
