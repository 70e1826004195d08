import { useEffect, useState } from 'react'
import type { HTMLAttributes, ReactNode } from 'react'
import { partsOf, spellOut } from '../format/literal.ts'
import { usd } from '../format/money.ts'
import { bothTimes, hourAgo, relative, shortUtc, utc } from '../format/time.ts'
import { classes } from './button.tsx'
import styles from './ui.module.css'

interface LiteralProps extends HTMLAttributes<HTMLElement> {
  readonly children: string
  readonly lines?: boolean
  /** The element around the text; none unless given. */
  readonly as?:
    | 'code'
    | 'dd'
    | 'div'
    | 'dt'
    | 'h3'
    | 'li'
    | 'mark'
    | 'p'
    | 'small'
    | 'span'
    | 'strong'
}

/** Text from outside: invisible characters are spelled out. */
export function Literal({ children, lines = false, as: Element, ...rest }: LiteralProps) {
  const parts = partsOf(children, lines).map((part, i) =>
    part.isSpelled ? (
      <span key={i} className={styles['spelled']}>
        {part.text}
      </span>
    ) : (
      part.text
    ),
  )
  return Element ? <Element {...rest}>{parts}</Element> : parts
}

/** An identifier in one line; the whole of it in the tooltip. */
export function Id({ children, className }: { children: string; className?: string }) {
  return (
    <Literal
      as="span"
      className={classes(styles['mono'], styles['clip'], className)}
      title={spellOut(children)}
    >
      {children}
    </Literal>
  )
}

/** A record by its description, with its identifier below. */
export const Described = ({ as: text, id }: { as: string | null; id: string }): ReactNode =>
  text === null || text === '' ? (
    <Id>{id}</Id>
  ) : (
    <>
      <Literal as="div">{text}</Literal>
      <Id>{id}</Id>
    </>
  )

/** The clock of a page, in steps. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** A text about a time; both UTC and local in the tooltip. */
const At = ({ at, children }: { at: string; children: string }) => (
  <time dateTime={at} title={bothTimes(at)} className={styles['nowrap']}>
    {children}
  </time>
)

interface TimeProps {
  readonly at: string
  /** `exact`: with milliseconds, as an entry of the ledger records it. */
  readonly as?: 'short' | 'full' | 'exact'
}

/** A time in UTC. */
export const Time = ({ at, as = 'short' }: TimeProps) => (
  <At at={at}>{as === 'short' ? shortUtc(at) : `${utc(at, as === 'exact')} UTC`}</At>
)

/** A time as a distance from now. */
export const Ago = ({ at }: { at: string }) => <At at={at}>{relative(at, useNow(10_000))}</At>

/** An hour of the clock as a distance from the current one, which is all that a count by hour knows. */
export const HourAgo = ({ start }: { start: string }) => (
  <At at={start}>{hourAgo(start, useNow(10_000))}</At>
)

export const Money = ({ amount }: { amount: number | null }): ReactNode =>
  amount === null ? '–' : <span className={styles['nowrap']}>{usd(amount)}</span>

export type Tone = 'allow' | 'deny' | 'wait' | 'info'

export function Badge({ tone, children }: { tone?: Tone | undefined; children: ReactNode }) {
  return <span className={classes(styles['badge'], tone && styles[tone])}>{children}</span>
}

const DECISION_TONES: Readonly<Record<string, Tone>> = {
  allow: 'allow',
  deny: 'deny',
  needs_approval: 'wait',
}

export const Decision = ({ decision }: { decision: string }): ReactNode => (
  <Badge tone={DECISION_TONES[decision]}>{decision.replace('_', ' ')}</Badge>
)
