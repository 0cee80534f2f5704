// Loaded into a process before its own code: its clock is ahead by so many milliseconds as `?ahead=` says.
const ahead = Number(new URL(import.meta.url).searchParams.get('ahead'))
const TrueDate = Date
const moved = (): number => TrueDate.now() + ahead

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, values: unknown[], made) =>
    Reflect.construct(target, values.length === 0 ? [moved()] : values, made) as Date,
  apply: () => new TrueDate(moved()).toString(),
  get: (target, name) => (name === 'now' ? moved : (Reflect.get(target, name) as unknown)),
})
