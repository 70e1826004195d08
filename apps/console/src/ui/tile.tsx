import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { classes } from './button.tsx'
import styles from './figure.module.css'

export const Tiles = ({ children }: { children: ReactNode }) => (
  <div className={styles['tiles']}>{children}</div>
)

interface TileProps {
  readonly name: string
  readonly value: ReactNode
  readonly note?: string
  readonly to?: string
  readonly search?: Readonly<Record<string, string>>
}

/** One number; with `to`, a link to the page behind it. */
export function Tile({ name, value, note, to, search }: TileProps) {
  const content = (
    <>
      <span>{name}</span>
      <strong>{value}</strong>
      {note !== undefined && <span>{note}</span>}
    </>
  )
  if (to === undefined) return <div className={styles['tile']}>{content}</div>
  return (
    <Link to={to} search={(search ?? {}) as never} className={styles['tile']}>
      {content}
    </Link>
  )
}

/** Cards side by side where there is room. */
export const Pair = ({ children }: { children: ReactNode }) => (
  <div className={styles['pair']}>{children}</div>
)

/** A share of a whole as a bar. The text beside it says the same. */
export function Meter({ share }: { share: number }) {
  const width = `${Math.min(100, Math.max(0, share * 100))}%`
  return (
    <div
      aria-hidden
      className={styles['meter']}
      data-high={share >= 0.8 && share < 1 ? '' : undefined}
      data-full={share >= 1 ? '' : undefined}
    >
      <span style={{ width }} />
    </div>
  )
}

interface SplitMeterProps {
  readonly used: number
  readonly held: number
  readonly kept: number
}

/** The parts of a limit as a bar: used, held, and kept free for others. The text beside it says the same. */
export function SplitMeter({ used, held, kept }: SplitMeterProps) {
  const taken = used + held
  const width = (share: number, before = 0) =>
    `${Math.max(0, Math.min(share, 1 - Math.min(1, before))) * 100}%`
  return (
    <div
      aria-hidden
      className={classes(styles['meter'], styles['split'])}
      data-high={taken >= 0.8 && taken < 1 ? '' : undefined}
      data-full={taken >= 1 ? '' : undefined}
    >
      <span style={{ width: width(used) }} />
      <span data-part="held" style={{ width: width(held, used) }} />
      <span data-part="kept" style={{ width: width(kept, taken) }} />
    </div>
  )
}
