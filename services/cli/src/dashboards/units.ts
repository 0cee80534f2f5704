// Numbers as a person reads them, by the names that Grafana has for units.

const SI: readonly (readonly [number, string])[] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
]

/** A dash for what is not a number. */
export function inUnit(value: number, unit: string): string {
  if (Number.isNaN(value)) return '–'
  if (unit === 'percentunit') return `${short(value * 100)} %`
  if (unit === 's') return duration(value)
  if (unit === 'bytes') return `${scaled(value)}B`
  if (unit === 'ops') return `${short(value)}/s`
  if (unit === 'currencyUSD') return `$${short(value)}`
  return scaled(value).trim()
}

/** Three digits that count. */
function short(value: number): string {
  if (value === 0) return '0'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return Math.abs(value) < 0.01 ? value.toPrecision(2) : String(Number(value.toFixed(digits)))
}

function scaled(value: number): string {
  const [size, prefix] = SI.find(([size]) => Math.abs(value) >= size) ?? [1, '']
  return `${short(value / size)} ${prefix}`
}

function duration(seconds: number): string {
  const size = Math.abs(seconds)
  if (size === 0) return '0 s'
  if (size < 1) return `${short(seconds * 1_000)} ms`
  if (size < 120) return `${short(seconds)} s`
  if (size < 7_200) return `${short(seconds / 60)} min`
  return size < 172_800 ? `${short(seconds / 3_600)} h` : `${short(seconds / 86_400)} d`
}
