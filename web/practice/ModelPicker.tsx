import * as Menu from "@radix-ui/react-dropdown-menu";
import { useChat, usePage } from "./App";
import { Icon } from "./Icon";

const models = [
  { slug: "gpt-practice", label: "Practice", about: "Answers from its script" },
  { slug: "gpt-practice-thinking", label: "Practice Thinking", about: "Answers from the same script" },
];

export function ModelPicker() {
  const { chat } = usePage();
  const { model } = useChat();
  const label = models.find((m) => m.slug === model)?.label ?? model;
  return (
    <Menu.Root>
      <Menu.Trigger className="picker" data-testid="model-switcher-dropdown-button" aria-label={`Model selector, current model is ${label}`}>
        ChatGPT <span>{label}</span> <Icon name="down" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="start" sideOffset={6}>
          {models.map((m) => (
            <Menu.Item key={m.slug} className="menu-item" data-testid={`model-switcher-${m.slug}`} onSelect={() => chat.choose(m.slug)}>
              <span>
                <strong>{m.label}</strong>
                <small>{m.about}</small>
              </span>
              {m.slug === model && <Icon name="check" />}
            </Menu.Item>
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
