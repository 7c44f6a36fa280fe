// Line icons of 16 units. All are decoration: the words beside them, or the
// label of their button, say what they mean.

const paths = {
  menu: "M2.5 4.500h11M2.5 8h11M2.5 11.500h11",
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.8 10.800L14 14",
  chevron: "M6 3.500L10.5 8 6 12.5",
  down: "M8 3v9.500M3.8 8.500L8 12.700l4.2-4.2",
  check: "M3 8.500l3.2 3.200L13 4.8",
  cross: "M4 4l8 8M12 4l-8 8",
  alert: "M8 2.200L14.3 13H1.700L8 2.200zM8 6.500v3M8 11.200v.100",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.500V11M8 5v.100",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.800V8l2.3 1.6",
  stop: "M4.5 4.500h7v7h-7z",
  send: "M8 13V3.500M3.8 7.500L8 3.300l4.2 4.2",
  copy: "M5.5 5.500h8v8h-8zM10.5 5.500v-3h-8v8h3",
  terminal: "M3 4.500L6.5 8 3 11.500M8 12h5",
  file: "M4 1.800h5L12.5 5.300v8.900H4zM9 1.800v3.500h3.5",
  edit: "M3 13l.700-3L10.8 3l2.3 2.300L6 12.3 3 13z",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4v.100M2.5 8v.100M2.5 12v.100",
  folder: "M1.8 12.700V3.300h4.500l1.5 1.900h6.400v7.500z",
  pin: "M8 9.500V14M5 2.500h6M6 2.500v4L4 9.500h8l-2-3v-4",
  archive: "M2 3h12v3H2zM3 6v7h10V6M6.5 8.700h3",
  trash: "M3 4.500h10M6.5 4.500v-2h3v2M4.2 4.500l.600 9h6.400l.600-9",
  gear: "M8 10.200a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.400zM8 1.800v2M8 12.200v2M1.8 8h2M12.2 8h2M3.6 3.600L5 5M11 11l1.4 1.400M3.6 12.400L5 11M11 5l1.4-1.4",
  plug: "M5.5 2v3.500M10.5 2v3.500M3.5 5.500h9V8a4.5 4.5 0 0 1-9 0zM8 12.500V15",
  shield: "M8 1.800l5.2 2v4c0 3-2.2 5.2-5.2 6.400C5 13 2.8 10.8 2.8 7.800v-4z",
  pulse: "M1.5 8.500h3l2-5 3 9 2-5 1 1.500h2",
  code: "M5.5 4.500L2 8l3.5 3.500M10.5 4.500L14 8l-3.5 3.5",
  more: "M3.5 8v.100M8 8v.100M12.5 8v.100",
  sun: "M8 10.800a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.600zM8 1.500V3M8 13v1.500M1.5 8H3M13 8h1.500M3.4 3.400l1 1M11.6 11.600l1 1M3.4 12.600l1-1M11.6 4.400l1-1",
  moon: "M13.5 9.500A6 6 0 0 1 6.5 2.500a6 6 0 1 0 7 7z",
  diff: "M8 2.500v6M5 5.500h6M5 12.500h6",
  up: "M8 13V3.500M3.8 7.500L8 3.300l4.2 4.2",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 9.800a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.600z",
  globe: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c-4 4-4 8 0 12 4-4 4-8 0-12z",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, class: cls }: { name: IconName; class?: string }) {
  return (
    <svg class={`icon icon-${name} ${cls ?? ""}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
